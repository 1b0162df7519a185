; case: tt-metal #54590. A wait for an exact count while another engine adds
;       twice: the value may be passed. Such a wait is never turned into a
;       counted one: its barriers stay, which are all there are.
; kind: HANG
; expect: unchanged

.isa tile64
.kernel "equality"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor qt  sbuf f32 [4, 8] at 0:4, 64 scratch
.tensor bt  sbuf f32 [4, 8] at 0:4, 96 scratch
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
    dma  q0, y{4*32}[8*4], xt[8*4]
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
    ts   qt[8*4], xt[8*4] op0=mul imm0=3.0 op1=none imm1=0 ^s1
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
    act  bt[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ?s1==1
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
