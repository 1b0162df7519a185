; case: tt-metal #54969. The kernel waits for and updates semaphores of others
;       between its own: they stay as and where they are, and no inserted
;       count uses them.
; kind: HANG
; expect: rewritten

.isa tile64
.kernel "foreign-semaphores"
.owned 0, 191
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor bt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4] ?s200>=1
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*32}[8*4], bt[8*4] ^s201
    sync
    halt
.engine dve
    ld   r1, n
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s0
    nop  ^s202
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
.engine act
    ld   r1, n
    memset bt[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    act  bt[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ?s0>=1
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
