; trap: T3. A mask "not in the first iteration of a trip" loses what the outer
;       loop carries: the first write of a trip, the last read of the trip
;       before.
; expect: rewritten
; barriers: 1
; wrong: race mask r5 0 copy a, w
; wrong: race late copy a, w

.isa tile64
.kernel "t03-outer-carried"
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
    copy a, w ^s0
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
    copy b, a ?s0>=1
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
