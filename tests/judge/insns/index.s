; By index: rows that are gathered, scattered and summed, elements that are
; gathered, sums by DMA. Each wait marked "needed" can be taken away alone.
.isa tile64
.kernel "index"
.queue q0 sp
.queue q1 pool
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram f32 [16, 4] at 64 input
.tensor i dram i32 [4, 1] at 320 input
.tensor y dram f32 [16, 4] at 512 output
.tensor z dram f32 [4, 4] at 768 output
.tensor it sbuf i32 [4, 1] at 0:4, 0 scratch
.tensor kt sbuf i32 [4, 4] at 0:4, 16 scratch
.tensor xt sbuf f32 [4, 4] at 0:4, 32 scratch
.tensor gt sbuf f32 [4, 4] at 0:4, 48 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, it, i{4*4} ^s0
    dmag q0, xt[4*4], x{16*16}[4*4], it ?s0>=1 ^s0 ; needed
    dmas q0, y{16*16}[4*4], gt[4*4], it ?s2>=2 ^s0 ; needed
    dmasa q0, y{16*16}[4*4], xt[4*4], it op=add ?s0>=3 ^s0 ; needed
    dmaa q0, z{4*16}[4*4], gt[4*4] op=max ^s0
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
.engine pool
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    iota kt[4*4] base=3 pmul=0 step0=-1 step1=0 step2=0 ^s2
    wait ?s0>=2                         ; needed
    gather gt[4*4], xt[4*4], kt[4*4] ?s2>=1 ^s2 ; needed
    dma  q1, z{4*16}[4*4], xt[4*4] ?s0>=5 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
