; trap: 7.1. Both ways back to the header of an inner loop advance the slot
;       alike, so that three iterations share none, across trips too.
; expect: rewritten
; barriers: 1
; plan: dve r0 starts at -3, +1 per entry of scope 4
; wrong: race late copy r.r8, w

.isa tile64
.kernel "p7-two-ways-back"
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
    br.ge r5, 4, done
    copy r+r8, w ^s0
    ld r9, m+r4
    add r5, r5, 1
    br.eq r9, 0, other
    add r8, r8, 4
    rem r8, r8, 12
    sync 1
    br loop
other:
    add r8, r8, 4
    rem r8, r8, 12
    sync 2
    br loop
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
    br.ge r5, 4, done
    copy b, r+r8 ?s0>=1
    ld r9, m+r4
    add r5, r5, 1
    br.eq r9, 0, other
    add r8, r8, 4
    rem r8, r8, 12
    sync 1
    br loop
other:
    add r8, r8, 4
    rem r8, r8, 12
    sync 2
    br loop
done:
    sync 6
    add r4, r4, 1
    br outer
out:
    sync 9
    halt
