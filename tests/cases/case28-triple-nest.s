; case: mlir-aie #1128. Producer in the innermost of three loops, consumer in
;       the outermost, the middle loop runs 0, 1 or 2 times and changes at
;       every entry.
; kind: HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "triple-nest"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 4 words 4
.tensor m   dram i32 [8] at 64 input range 0 2 words 1, 0, 2, 1, 1, 0, 2, 1
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor ct  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    mov  r3, 0
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    ld   r4, m+r3
    add  r3, r3, 4
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    dma  q0, y{4*32}[8*4], ct[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    mov  r3, 0
    memset pt[8*4] value=0
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    ld   r4, m+r3
    add  r3, r3, 4
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    tt   pt[8*4], pt[8*4], xt[8*4] op=add
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    sync
    halt
.engine act
    ld   r1, n
    mov  r3, 0
    memset ct[8*4] value=0
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    act  ct[8*4], pt[8*4] func=square scale=1.0 bias=0.0
    ld   r4, m+r3
    add  r3, r3, 4
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    mov  r6, 0
loop3:
    br.ge r6, 2, done3
    sync
    add  r6, r6, 1
    br   loop3
done3:
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    sync
    halt
