; trap: T6. The slot index starts anew in each trip: with an odd number of
;       iterations the last use of slot 0 is one iteration back, not two. So
;       the trips before are waited for in front of the loop.
; expect: rewritten
; barriers: 1
; wrong: race late copy r.r7, w
; wrong: race sed /^.engine \(dve\|vec\)/,/^.engine/{/^ *wait /d}
; right: mask r5 1 copy r.r7, w
; right: sed /^.engine \(dve\|vec\)/,/^.engine/{s/^ *wait ?s[0-9]*>=r/\
;       mov r21, r/; s/^ *copy r.r7, w ?\(s[0-9]*\)>=r0/    max r20, r0, r21\
;   \n    copy r+r7, w ?\1>=r20/}

.isa tile64
.kernel "t06-trip-local-rotation"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 3
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
    and r7, r5, 1
    mul r7, r7, 4
    copy r+r7, w ^s0
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
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
    and r7, r5, 1
    mul r7, r7, 4
    copy b+r7, r+r7 ?s0>=1
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
