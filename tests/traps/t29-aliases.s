; trap: T29. Two tensors of DRAM that share bytes are one.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop dma q1

.isa tile64
.kernel "t29-aliases"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor y dram f32 [64] at 8192 output
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor y2 dram f32 [4] at 8188 input
.engine sp
    dma q0, y, w
    sync 1
    sync 2
    halt
.engine act
    sync 1
    dma q1, a, y2+4
    sync 2
    halt
