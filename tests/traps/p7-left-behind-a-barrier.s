; trap: 7.1. An inner loop is left behind its barrier, but before the slot
;       advances: the next trip begins with the slot of the last iteration.
; expect: rewritten
; barriers: 1
; wrong: race late copy r.r8, w

.isa tile64
.kernel "p7-left-behind-a-barrier"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 4
.tensor m dram i32 [4] at 512 input range 0 1 words 1, 0, 0, 1
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    mov r8, 0
    mov r4, 0
outer:
    br.ge r4, r1, out
    sync 5
    mov r5, 0
loop:
    sync 1
    copy r+r8, w ^s0
    ld r9, m+r4
    br.eq r9, 0, done
    add r8, r8, 4
    rem r8, r8, 12
    add r5, r5, 1
    br.lt r5, 4, loop
done:
    sync 6
    add r4, r4, 1
    br outer
out:
    sync 9
    halt
.engine act
    ld r1, n
    mov r8, 0
    mov r4, 0
outer:
    br.ge r4, r1, out
    sync 5
    mov r5, 0
loop:
    sync 1
    copy b, r+r8 ?s0>=1
    ld r9, m+r4
    br.eq r9, 0, done
    add r8, r8, 4
    rem r8, r8, 12
    add r5, r5, 1
    br.lt r5, 4, loop
done:
    sync 6
    add r4, r4, 1
    br outer
out:
    sync 9
    halt
