; trap: T5. The innermost scope around both is a conditional, entered once at
;       most: masked by that, the order carried by the loop is never kept.
; expect: rewritten
; barriers: 1
; wrong: race drop copy b, a
; wrong: race mask 0 0 copy a, w

.isa tile64
.kernel "t05-conditional-innermost"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 6 words 5
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    br.ne r7, 0, join2
    copy b, a ^s0
join2:
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
    and r7, r4, 1
    br.ne r7, 0, join2
    copy a, w ?s0>=1
join2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
