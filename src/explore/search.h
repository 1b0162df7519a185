/* search.h - all orders of a kernel on an input, or enough of them. */
#ifndef NSR_EXPLORE_SEARCH_H
#define NSR_EXPLORE_SEARCH_H

#include "explore/moves.h"

/* Every state that can be reached; `reduce`: with one order of what commutes.
 * For any kernel. */
NSR_MUST_USE enum nsr_status nsr_search_all(struct nsr_search *s, bool reduce);

/* One order, and for each instance what happens while it alone is held back:
 * enough where counts only grow (hold.c). `scout`: the one order alone, past
 * what is wrong with it, to see what there is. */
NSR_MUST_USE enum nsr_status nsr_search_held(struct nsr_search *s, bool scout);

#endif
