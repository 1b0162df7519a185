; Along rows: activations with sums and biases, scans, the largest of a row,
; what is converted. Each wait marked "needed" can be taken away alone.
.isa tile64
.kernel "rows"
.queue q0 sp
.tensor n dram i32 [1] at 0 input range 0 3
.tensor x dram bf16 [4, 16] at 64 input
.tensor y dram f32 [4, 8] at 256 output
.tensor xt sbuf bf16 [4, 16] at 0:4, 0 scratch
.tensor ft sbuf f32 [4, 16] at 0:4, 32 scratch
.tensor et sbuf f32 [4, 16] at 0:4, 96 scratch
.tensor st sbuf f32 [4, 1] at 0:4, 160 scratch
.tensor bt sbuf f32 [4, 1] at 0:4, 164 scratch
.tensor ct sbuf f32 [4, 16] at 0:4, 168 scratch
.tensor mt sbuf f32 [4, 8] at 0:4, 232 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
    sync
loop:
    br.ge r2, r1, done
    dma  q0, xt[16*2], x{4*32}[16*2] ^s0
    dma  q0, y{4*32}[8*4], mt[8*4] ?s2>=4 ; needed
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
    cast ft[16*4], xt[16*2] ?s0>=1 ^s1  ; needed
    acts et[16*4], st, ft[16*4] func=square scale=1 bias=0 ?s1>=1 ^s1 ; needed
    actb bt, st, st func=sqrt scale=0.5 ?s1>=2 ^s1 ; needed
    actbs ct[16*4], st, et[16*4], bt func=exp scale=-1 ?s1>=3 ^s1 ; needed
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
    scan ct[16*4], ct[16*4], et[16*4], st op0=mul op1=add ?s1>=4 ^s2 ; needed
    tr   bt, ct[16*4] op=max ?s2>=1 ^s2 ; needed
    max8 mt[8*4], ct[16*4] ^s2
    tsp  mt[8*4], mt[8*4], bt op=div ?s2>=3 ^s2 ; needed
    add  r2, r2, 1
    sync
    br   loop
done:
    sync
    halt
