; trap: T20. The test on top runs once more than the body: who counts there
;       waits for an iteration that never comes; who starts anew in each trip,
;       for less.
; expect: rewritten
; barriers: 1
; wrong: hang sed /^ *add r0, r0, 1/d\
;   ; s/^ *br.ge r5, r2, .*/    add r0, r0, 1\n&/
; wrong: race sed /^.engine \(act\|gen\)/,/^.engine/s/^ *mov r5, 0.*/&\
;   \n    mov r0, 0/

.isa tile64
.kernel "t20-where-entry-is"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 1
    copy a, w
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    sync 3
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 1
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    copy b, a
    sync 3
    halt
