; case: mlir-aie #2463. A window of three tiles of which each iteration takes
;       one more and keeps two: the count grows by one, not by three.
; kind: HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "sliding-window"
.queue q0 sp
.queue q1 act
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [40, 8] at 4096 input
.tensor y   dram f32 [32, 8] at 5376 output
.tensor xt  sbuf f32 [4, 24] at 0:4, 0 scratch
.tensor ut  sbuf f32 [4, 8] at 0:4, 96 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 128 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    dma  q0, xt+32[8*4], x+4*32{4*32}[8*4]
    mov  r3, 8*32
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r4, r2, 2
    rem  r4, r4, 3
    mul  r4, r4, 32
    dma  q0, xt+r4[8*4], x+r3{4*32}[8*4] ^s1
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
    mov  r4, r2
    rem  r4, r4, 3
    mul  r4, r4, 32
    add  r5, r2, 1
    rem  r5, r5, 3
    mul  r5, r5, 32
    add  r6, r2, 2
    rem  r6, r6, 3
    mul  r6, r6, 32
    tt   ut[8*4], xt+r4[8*4], xt+r5[8*4] op=add ^s2
    wait ?s1>=1
    tt   yt[8*4], ut[8*4], xt+r6[8*4] op=add ?s2>=1 ^s3
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine act
    ld   r1, n
    mov  r3, 0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    dma  q1, y+r3{4*32}[8*4], yt[8*4] ?s3>=1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
