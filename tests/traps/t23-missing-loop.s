; trap: T23. The reader does not run the loop of the writer, so it cannot
;       count in it: a no-op behind the loop speaks for it.
; expect: rewritten
; barriers: 1
; wrong: race drop copy b, r
; wrong: hang early copy b, r
; wrong: race sed :a;N;$!ba;s/\(mov r5, 0[^\n]*\)\(.*\)\
;   \n *nop ^s\([0-9]*\)[^\n]*/\1\n    nop ^s\3\2/

.isa tile64
.kernel "t23-missing-loop"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    mul r7, r5, 4
    copy r+r7, w
    add r5, r5, 1
    br loop2
done2:
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    copy b, r
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
