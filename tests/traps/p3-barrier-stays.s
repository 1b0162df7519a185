; trap: 3.3. Behind a barrier that stays all counts are 0, and so is what the
;       mirrors hold.
; expect: rewritten
; rewrite: --scheme=running-total --soft-barriers=never
; barriers: 3
; wrong: hang sed /^ *sync 2/,/halt/s/^ *mov r[02], .*//

.isa tile64
.kernel "p3-barrier-stays"
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
    sync 1
    copy a, w ^s0
    add r4, r4, 1
    br loop1
done1:
    sync 2
    sync 3
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 4
    copy a, w ^s0
    add r5, r5, 1
    br loop2
done2:
    sync 5
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy b, a ?s0>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    sync 3
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 4
    copy b, a ?s0>=1
    add r5, r5, 1
    br loop2
done2:
    sync 5
    halt
.engine pool
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    custom code=7
    sync 3
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 4
    add r5, r5, 1
    br loop2
done2:
    sync 5
    halt
