; trap: T27. Three slots in turn: the write waits for the read three
;       iterations before, not for the last one.
; expect: rewritten
; barriers: 1
; plan: dve r0 starts at -3, +1 per entry of scope 2
; wrong: race late copy r.r7, w

.isa tile64
.kernel "t27-known-rotation"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 6 words 5
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    rem r7, r4, 3
    mul r7, r7, 4
    copy r+r7, w ^s0
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    rem r7, r4, 3
    mul r7, r7, 4
    copy b, r+r7 ?s0>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
