; trap: 7.2. The producer is nested and may not have run in this iteration of
;       the loop that rotates.
; expect: rewritten
; barriers: 1
; wrong: race late copy b, r.r7
; right: sed /^.engine \(act\|gen\)/,/^.engine/{s/^ *mov r3, 0/&\
;   \n    mov r21, 0\n    mov r22, 0/; s/^ *and r7, r4, 1/    mov r22, r21\
;   \n    mov r21, r3\n&/\
;   ; s/^ *copy b, r.r7 ?\(s[0-9]*\)>=r3/    gt r20, r3, r21\
;   \n    sel r20, r20, r3, r22\n    copy b, r+r7 ?\1>=r20/}
; wrong: race sed /^.engine \(act\|gen\)/,/^.engine/{s/^ *mov r3, 0/&\
;   \n    mov r21, 0\n    mov r22, 0/; s/^ *and r7, r4, 1/    mov r22, r21\
;   \n    mov r21, r3\n&/\
;   ; s/^ *copy b, r.r7 ?\(s[0-9]*\)>=r3/    copy b, r+r7 ?\1>=r22/}

.isa tile64
.kernel "p7-inner-producer-idle"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 7 words 6
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    mul r7, r7, 4
    and r2, r4, 1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 2
    copy r+r7, w
    add r5, r5, 1
    br loop2
done2:
    sync 3
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    mul r7, r7, 4
    and r2, r4, 1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 2
    add r5, r5, 1
    br loop2
done2:
    sync 3
    copy b, r+r7
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
