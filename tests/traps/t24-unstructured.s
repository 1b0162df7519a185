; trap: T24. A loop with two entries is left as it is, with the barriers
;       around it; what lies before and behind is rewritten.
; expect: rewritten
; barriers: 4
; wrong: race unsync 2
; wrong: race unsync 22

.isa tile64
.kernel "t24-unstructured"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, w ^s0
    add r4, r4, 1
    br loop1
done1:
    sync 2
    mov r7, 0
    br.gt r1, 2, middle
head:
    br.ge r7, r1, over
    sync 21
middle:
    copy c, a
    add r7, r7, 1
    br head
over:
    sync 22
    sync 3
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy b, a ?s0>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    mov r7, 0
    br.gt r1, 2, middle
head:
    br.ge r7, r1, over
    sync 21
middle:
    add r7, r7, 1
    br head
over:
    sync 22
    copy d, c
    copy w, c
    sync 3
    halt
