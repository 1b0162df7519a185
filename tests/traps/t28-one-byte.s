; trap: T28. One byte in common, by an element of another size.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop copy r.11

.isa tile64
.kernel "t28-one-byte"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    copy r[2*8], w[2*4]
    sync 1
    sync 2
    halt
.engine act
    sync 1
    copy r+11[2*8]:u8, w[2*1]:u8
    sync 2
    halt
