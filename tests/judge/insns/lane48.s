; Another instruction set: products, predicates, scans, and transfers by index.
; Each wait marked "needed" can be taken away alone.
.isa lane48
.kernel "lane48"
.queue q0 io
.queue q1 gen
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram f32 [16, 4] at 64 input
.tensor w dram bf16 [4, 4] at 320 input
.tensor i dram i32 [4, 1] at 384 input
.tensor y dram f32 [16, 4] at 512 output
.tensor it sbuf i32 [4, 1] at 0:4, 0 scratch
.tensor xt sbuf f32 [4, 4] at 0:4, 16 scratch
.tensor wt sbuf bf16 [4, 4] at 0:4, 32 scratch
.tensor yt sbuf f32 [4, 4] at 0:4, 48 scratch
.tensor zt sbuf f32 [4, 4] at 0:4, 64 scratch
.tensor p psum f32 [4, 4] at 0:4, 0 scratch
.engine io
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, it, i{4*4} ^s0
    dma  q0, wt[4*2], w{4*8}[4*2] ^s0
    dmag q0, xt[4*4], x{16*16}[4*4], it ?s0>=1 ^s0 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine mat
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    ldw  wt[4*2] ?s0>=2                 ; needed
    mm   p[4*4], xt[4*4] ?s0>=3         ; needed
    mm   p[4*4] !acc, xt[4*4] ^s1
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine vec
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    copy yt[4*4], p[4*4] ?s1>=1 ^s2     ; needed
    copyp yt[4*4], xt[4*4], p[4*4] ?s2>=1 ^s2 ; needed
    scan zt[4*4], yt[4*4], xt[4*4], xt op0=mul op1=add ?s2>=2 ^s2 ; needed
    tsel yt[4*4], zt[4*4], xt[4*4], p[4*4] ?s2>=3 ^s2 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine gen
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dmas q1, y{16*16}[4*4], yt[4*4], it ?s2>=4 ^s3 ; needed
    dmaa q1, y{4*16}[4*4], zt[4*4] op=add ?s3>=1 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
