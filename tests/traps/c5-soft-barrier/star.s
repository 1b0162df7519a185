; One engine waits for all and tells the others.
; expect: equal
.isa tile64
.kernel "c5-soft-barrier"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    nop ^s0
    wait ?s0>=1
    wait ?s1>=1
    wait ?s2>=1
    nop ^s3
    nop ^s0
    wait ?s0>=2
    wait ?s1>=2
    wait ?s2>=2
    nop ^s3
    copy c, b
    sync 3
    halt
.engine act
    nop ^s1
    wait ?s3>=1
    copy b, a
    nop ^s1
    wait ?s3>=2
    sync 3
    halt
.engine pool
    copy a, w
    nop ^s2
    wait ?s3>=1
    nop ^s2
    wait ?s3>=2
    sync 3
    halt
