; trap: T25. A branch to an instruction lands on what was put in front of it:
;       behind, the iteration is not counted.
; expect: rewritten
; barriers: 1
; wrong: race sed s/^ *add r0, r0, 1/&\nskip:/\
;   ; s/^ *br.lt r4, r1, .*/    br.lt r4, r1, skip/

.isa tile64
.kernel "t25-displacements"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    sync 1
    copy a, w ^s0
    add r4, r4, 1
    br.lt r4, r1, loop1
    sync 2
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    sync 1
    copy b, a ?s0>=1
    add r4, r4, 1
    br.lt r4, r1, loop1
    sync 2
    halt
