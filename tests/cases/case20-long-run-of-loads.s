; case: llvm-project #172932. A long run of loads passes what a counter holds:
;       semaphores here have 16 bits, two loads are counted in each of 3 x 6000
;       iterations. The bound is in the report; a barrier that sets counts back
;       stays where they would not hold, in the outer loop.
; kind: ENC
; expect: rewritten
; rewrite: --on-overflow=keep-barrier
; barriers: 2
; says: counts come to 12002 at most, of 32767
; start: s0:30000
.isa lane48
.kernel "long-run-of-loads"
.queue q0 io
.tensor n   dram i32 [1] at 0 input range 0 3 words 2
.tensor m   dram i32 [1] at 4 input range 0 6000 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor w   dram f32 [4, 8] at 4224 input
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor wt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine io
    ld   r1, n
    ld   r4, m
    mov  r2, 0
    sync
outer:
    br.ge r2, r1, done
    mov  r3, 0
    sync
inner:
    br.ge r3, r4, next
    dma  q0, xt[8*4], x{4*32}[8*4]
    dma  q0, wt[8*4], w{4*32}[8*4]
    add  r3, r3, 1
    sync
    br   inner
next:
    add  r2, r2, 1
    sync
    br   outer
done:
    sync
    halt
.engine vec
    ld   r1, n
    ld   r4, m
    mov  r2, 0
    sync
outer:
    br.ge r2, r1, done
    mov  r3, 0
    sync
inner:
    br.ge r3, r4, next
    sync
    add  r3, r3, 1
    br   inner
next:
    add  r2, r2, 1
    sync
    br   outer
done:
    sync
    halt
