; case: PTOAS #112. Both arms of a branch produce the same buffer (here two
;       conditionals in turn), the consumer stands behind the join; the arm
;       taken changes every other iteration.
; kind: MISS HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "two-arms"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    mov  r3, 0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    sync
    dma  q0, y+r3{4*32}[8*4], yt[8*4] ?s2>=1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine dve
    ld   r1, n
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    and  r4, r2, 2
    br.eq r4, 0, skip1
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
skip1:
    br.ne r4, 0, skip2
    ts   pt[8*4], xt[8*4] op0=mul imm0=3.0 op1=none imm1=0
skip2:
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine act
    ld   r1, n
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    sync
    act  yt[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ^s2
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
