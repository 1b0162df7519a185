; case: tt-metal #17763. Counts nobody has waited for when the kernel ends:
;       the next launch must find zero.
; kind: LEFT
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "left-over-counts"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4] ^s4
    mov  r3, 0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    dma  q0, y+r3{4*32}[8*4], pt[8*4] ?s1>=1 ^s5
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine dve
    ld   r1, n
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    nop  ^s6
    nop  ^s6
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
