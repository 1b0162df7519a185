; trap: 7.1. Three slots in a nested loop with fewer iterations a trip than
;       slots: what was filled at the reset counts.
; expect: rewritten
; barriers: 1
; wrong: race late copy r.r7, w
; wrong: race sed /^.engine \(dve\|vec\)/,/^.engine/{/^ *wait /d}

.isa tile64
.kernel "p7-nested-rotation-few-trips"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
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
    rem r7, r5, 3
    mul r7, r7, 4
    copy r+r7, w
    sync 2
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
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
    sync 2
    rem r7, r5, 3
    mul r7, r7, 4
    copy b, r+r7
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
