; case: BOLT #49. A jump into the middle of a loop: not structured, its
;       barriers around it stay, which are all there are.
; kind: ENC
; expect: unchanged

.isa tile64
.kernel "two-entries"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
    br.gt r1, 2, middle
loop:
    br.ge r2, r1, done
    sync
middle:
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*32}[8*4], xt[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    sync
    mov  r2, 0
    br.gt r1, 2, middle
loop:
    br.ge r2, r1, done
    sync
middle:
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
