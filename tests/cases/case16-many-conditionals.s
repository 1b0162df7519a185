; case: PTOAS #950. Forty conditionals in a row, each choosing one of two
;       buffers for the write behind it, in a nest of three loops: the time
;       must not explode.
; kind: COST
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "many-conditionals"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 3 words 2
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor ct  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor pt  sbuf f32 [4, 16] at 0:4, 64 scratch
.macro choose I
    mov  r7, 0
    and  r8, r2, 1
    add  r8, r8, r5
    br.ne r8, \I % 3, other_\I
    mov  r7, 32
other_\I:
    ts   pt+r7[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ?s1>=\I ^s1
.end
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    mov  r5, 0
loop2:
    br.ge r5, r1, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    dma  q0, y{4*32}[8*4], ct[8*4] ?s1>=1
    sync
    halt
.engine dve
    ld   r1, n
    memset pt[16*4] value=0
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    mov  r5, 0
loop2:
    br.ge r5, r1, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    choose 0
    choose 1
    choose 2
    choose 3
    choose 4
    choose 5
    choose 6
    choose 7
    choose 8
    choose 9
    choose 10
    choose 11
    choose 12
    choose 13
    choose 14
    choose 15
    choose 16
    choose 17
    choose 18
    choose 19
    choose 20
    choose 21
    choose 22
    choose 23
    choose 24
    choose 25
    choose 26
    choose 27
    choose 28
    choose 29
    choose 30
    choose 31
    choose 32
    choose 33
    choose 34
    choose 35
    choose 36
    choose 37
    choose 38
    choose 39
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    sync
    halt
.engine act
    ld   r1, n
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    mov  r5, 0
loop2:
    br.ge r5, r1, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    act  ct[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ^s1
    sync
    halt
