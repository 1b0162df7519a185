; trap: T27. The slot is loaded from a table: it may be any, so the most
;       recent instance is awaited.
; expect: rewritten
; barriers: 1
; wrong: race late copy r.r8, w

.isa tile64
.kernel "t27-unknown-slot"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.tensor p dram i32 [4] at 512 input range 0 0 words 0, 0, 0, 0
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mul r7, r4, 4
    ld r8, p+r7
    copy r+r8, w ^s0
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
    mul r7, r4, 4
    ld r8, p+r7
    copy b, r+r8 ?s0>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
