; trap: 4.3. Two loops whose barriers have one id pair up although the engines
;       run them n and m, and m and n times: not by the ids, but by what the
;       engines load can they be told to be equal. These are not.
; expect: unchanged

.isa tile64
.kernel "p4-swapped-trip-counts"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r8, r1
    mov r9, r2
    mov r4, 0
head1:
    br.ge r4, r8, over1
    copy a, w
    sync 9
    sync 9
    add r4, r4, 1
    br head1
over1:
    mov r4, 0
head2:
    br.ge r4, r9, over2
    copy c, w
    sync 9
    sync 9
    add r4, r4, 1
    br head2
over2:
    sync 1
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r8, r2
    mov r9, r1
    mov r4, 0
head1:
    br.ge r4, r8, over1
    sync 9
    copy b, a
    sync 9
    add r4, r4, 1
    br head1
over1:
    mov r4, 0
head2:
    br.ge r4, r9, over2
    sync 9
    copy d, c
    sync 9
    add r4, r4, 1
    br head2
over2:
    sync 1
    halt
