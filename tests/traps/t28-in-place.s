; trap: T28. An update in place reads what it writes, in each iteration what
;       the one before has written.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop tt a

.isa tile64
.kernel "t28-in-place"
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    tt a, a, w op=add
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
