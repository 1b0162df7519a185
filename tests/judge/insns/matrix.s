; Products, sums and transposes: what they wait for. Each wait marked "needed"
; can be taken away alone, and both judges must then object.
.isa tile64
.kernel "matrix"
.queue q0 sp
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram f32 [4, 4] at 64 input
.tensor w dram bf16 [4, 4] at 128 input
.tensor y dram f32 [4, 4] at 192 output
.tensor xt sbuf f32 [4, 4] at 0:4, 0 scratch
.tensor wt sbuf bf16 [4, 4] at 0:4, 16 scratch
.tensor yt sbuf f32 [4, 4] at 0:4, 32 scratch
.tensor p psum f32 [4, 4] at 0:4, 0 scratch
.tensor q psum f32 [4, 4] at 0:4, 16 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, xt[4*4], x{4*16}[4*4] ^s0
    dma  q0, wt[4*2], w{4*8}[4*2] ^s0
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine pe
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    ldw  wt[4*2] ?s0>=2                 ; needed
    mm   p[4*4], xt[4*4]
    mm   p[4*4] !acc, xt[4*4] ^s1
    tp   q[4*4], xt[4*4] ?s2>=2         ; needed
    mm   q[4*4] !acc, wt[4*2] ^s1
    mm   p[4*4], wt[4*2] ^s1
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine dve
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    tpv  yt[4*4], p[4*4] ?s1>=1 ^s2     ; needed
    memset q[4*4] value=0 ^s2
    tt   yt[4*4], yt[4*4], q[4*4] op=ge ?s1>=2 ^s2 ; needed
    wait ?s1>=3                         ; needed
    tt   yt[4*4], yt[4*4], p[4*4] op=eq ?s2>=3 ^s2 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine act
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q1, y{4*16}[4*4], yt[4*4] ?s2>=4 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
