; case: rocm-libraries PR 8582. A ring of three slots: one engine writes slot
;       i mod 3, another reads slot (i-2) mod 3.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "distance-two"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor ct  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor rt  sbuf f32 [4, 24] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*32}[8*4], ct[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    memset rt[24*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    mov  r4, r2
    rem  r4, r4, 3
    mul  r4, r4, 32
    ts   rt+r4[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
.engine act
    ld   r1, n
    memset ct[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r4, r2, 1
    rem  r4, r4, 3
    mul  r4, r4, 32
    act  ct[8*4], rt+r4[8*4] func=square scale=1.0 bias=0.0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
