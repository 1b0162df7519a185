; By predicate and by pattern: what may be written keeps what was there. Each
; wait marked "needed" can be taken away alone.
.isa tile64
.kernel "some"
.queue q0 sp
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram f32 [4, 8] at 64 input
.tensor m dram u8 [4, 8] at 192 input
.tensor y dram f32 [4, 8] at 256 output
.tensor xt sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor mt sbuf u8 [4, 8] at 0:4, 32 scratch
.tensor at sbuf f32 [4, 8] at 0:4, 64 scratch
.tensor yt sbuf f32 [4, 8] at 0:4, 96 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, xt[8*4], x{4*32}[8*4] ^s0
    dma  q0, mt[8*1], m{4*8}[8*1] ^s0
    dma  q0, y{4*32}[8*4], yt[8*4] ?s2>=3 ; needed
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
    asel at[8*4], xt[8*4] test=ge pmul=1 step0=-1 value=-9 ?s0>=1 ^s1 ; needed
    wait ?s0>=2                         ; needed
    memsetp at[8*4], mt[8*1] value=7 ?s1>=1 ^s1 ; needed
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
    tsel yt[8*4], mt[8*1], at[8*4], xt[8*4] ?s1>=2 ^s2 ; needed
    copyp yt[8*4], at[8*4], xt[8*4] ?s2>=1 ^s2 ; needed
    tt   yt[8*4], yt[8*4], at[8*4] op=add ?s2>=2 ^s2 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
