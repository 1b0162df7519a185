; case: PTOAS #735, #1499. The same opcode is legal on both engines, and one of
;       its accesses is the producer, the other the consumer: who does it is the
;       engine whose stream it is in. Where an opcode is not legal there, the
;       kernel is refused.
; kind: MISS
; expect: rewritten
; barriers: 1
; mutants: drop-wait
; mutants: lower-threshold
.isa tile64
.kernel "engine-of-the-stream"
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor wt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor xt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine dve
    ld   r1, n
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    copy xt[8*4], wt[8*4] ^s1
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine act
;   illegal: tr yt, xt[8*4] op=add
    ld   r1, n
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    copy yt[8*4], xt[8*4] ?s1>=1
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
