; Code of others, which may touch anything. Each wait marked "needed" can be
; taken away alone.
.isa tile64
.kernel "unknown"
.queue q0 sp
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram f32 [4, 4] at 64 input
.tensor y dram f32 [4, 4] at 128 output
.tensor xt sbuf f32 [4, 4] at 0:4, 0 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, xt[4*4], x{4*16}[4*4] ^s0
    dma  q0, y{4*16}[4*4], xt[4*4] ?s1>=1 ; needed
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
    custom code=1 ?s0>=1 ^s1            ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
