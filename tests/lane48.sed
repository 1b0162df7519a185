# Turns test kernels for tile64 into ones for lane48: its engines instead of the
# others, and its last semaphores, which a kernel does not own, instead of
# those from 200 on.
s/^\.isa tile64/.isa lane48/
/^\.\(engine\|queue\|order\) /{
  s/ \(pe\|pool\)\>/ mat/
  s/ act\>/ gen/
  s/ dve\>/ vec/
  s/ sp\>/ io/
}
s/^\.owned 0, 191/.owned 0, 39/
s/\([?^]s\)20\([0-7]\)\>/\14\2/g
