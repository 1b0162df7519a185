; case: BOLT #49. Two back edges to one head (a continue) are one loop, and
;       structured.
; kind: ENC
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "continue"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor ct  sbuf f32 [4, 8] at 0:4, 64 scratch
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
    dma  q0, y{4*32}[8*4], ct[8*4] ?s1>=1
    sync
    halt
.engine dve
    ld   r1, n
    memset pt[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    and  r4, r2, 1
    add  r2, r2, 1
    br.eq r4, 0, loop
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
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
    add  r2, r2, 1
    br   loop
done:
    sync
    act  ct[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ^s1
    sync
    halt
