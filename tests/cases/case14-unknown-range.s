; case: PTOAS PR 333. Two producers of one engine, the second at an address
;       read from memory; a consumer of each on one other engine: both orders
;       count, each where it stands.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "unknown-range"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor ix  dram i32 [1] at 64 input range 0 3 words 2
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor z   dram f32 [4, 8] at 4352 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor qt  sbuf f32 [4, 32] at 0:4, 64 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 192 scratch
.tensor zt  sbuf f32 [4, 8] at 0:4, 224 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*32}[8*4], yt[8*4]
    dma  q0, z{4*32}[8*4], zt[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    ld   r3, ix
    mul  r3, r3, 32
    memset qt[32*4] value=0
    memset yt[8*4] value=0
    memset zt[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
    ts   qt+r3[8*4], xt[8*4] op0=mul imm0=3.0 op1=none imm1=0
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
.engine act
    ld   r1, n
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    sync
    act  yt[8*4], pt[8*4] func=square scale=1.0 bias=0.0
    act  zt[8*4], qt+32[8*4] func=square scale=1.0 bias=0.0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
