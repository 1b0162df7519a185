; trap: T18. The reader is nested in the iteration two before: no count of its
;       loop minus a constant says that; the most recent instance does, and
;       the count as it was when the iteration before this one started.
; expect: rewritten
; barriers: 1
; wrong: race drop copy r.r7, w
; wrong: race drop copy b, r
; right: sed /^.engine \(dve\|vec\)/,/^.engine/{\
;   s/^\( *copy r.r7, w ?s[0-9]*\)>=r[0-9]*/\1>=r8/}
; wrong: race sed /^.engine \(dve\|vec\)/,/^.engine/{\
;   s/^ *mov r8, 0/&\n    mov r20, 0/\
;   ; s/^ *mov \(r[0-9]3\), r[0-9]2/    mov r20, \1\n&/\
;   ; s/^\( *copy r.r7, w ?s[0-9]*\)>=r[0-9]*/\1>=r20/}

.isa tile64
.kernel "t18-nested-producer"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 5 words 4
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor k dram i32 [1] at 128 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    ld r2, m
    ld r3, k
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    and r7, r4, 1
    mul r7, r7, 4
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 1
    copy r+r7, w
    add r5, r5, 1
    br loop2
done2:
    mov r6, 0
loop3:
    br.ge r6, r3, done3
    sync 2
    add r6, r6, 1
    br loop3
done3:
    sync 3
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
.engine act
    ld r1, n
    ld r2, m
    ld r3, k
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    and r7, r4, 1
    mul r7, r7, 4
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 1
    add r5, r5, 1
    br loop2
done2:
    mov r6, 0
loop3:
    br.ge r6, r3, done3
    sync 2
    copy b, r+r7
    add r6, r6, 1
    br loop3
done3:
    sync 3
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
