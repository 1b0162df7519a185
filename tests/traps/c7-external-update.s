; trap: C7. Others answer what is told them: a wait for what follows from the
;       answer never moves in front of that.
; expect: rewritten
; barriers: 1
; event: host: ?s200>=1 ^s201
; wrong: hang sed :a;N;$!ba;s/nop \([^\n]*\
;   \n *copy b, a ?\(s[0-9]*\)>=2\)/wait ?\2>=2\n    nop \1/

.isa tile64
.kernel "c7-external-update"
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
    copy c, w
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    nop ^s200
    copy b, a ?s0>=1
    sync 4
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    copy d, c
    add r4, r4, 1
    br loop1
done1:
    sync 3
    nop ?s201>=1
    copy a, w ^s0
    sync 4
    halt
