; case: Even columns are written by one engine while another reads the odd
;       ones (no report, the neighbour of #333): no order is owed between
;       them, one byte of overlap owes it.
; kind: OVER
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "interleaved-columns"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 16] at 4096 input
.tensor y   dram f32 [4, 16] at 8192 output
.tensor xt  sbuf f32 [4, 16] at 0:4, 0 scratch
.tensor ot  sbuf f32 [4, 16] at 0:4, 64 scratch
.tensor et  sbuf f32 [4, 8] at 0:4, 128 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[16*4], x{4*64}[16*4]
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*64}[16*4], ot[16*4]
    sync
    halt
.engine dve
    ld   r1, n
    memset ot[16*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   ot[8*8], xt[8*8] op0=mul imm0=2.0 op1=none imm1=0
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
    act  et[8*4], ot+4[8*8] func=square scale=1.0 bias=0.0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
