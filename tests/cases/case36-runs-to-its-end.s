; case: tt-lang #548. A wait for an exact count holds where one engine runs to
;       its end before the other begins, or both take turns, and is passed by
;       where the counting engine is quick: more than one order is tried.
; kind: CHK
; judge: input broken: hang
; expect: unchanged

.isa tile64
.kernel "runs-to-its-end"
.tensor a   sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor b   sbuf f32 [4, 8] at 0:4, 64 scratch
.engine dve
    memset a[8*4] value=1 ^s1
    nop
    nop
    nop
    memset b[8*4] value=1 ^s1
    sync
    halt
.engine act
    wait ?s1==1
    sync
    halt
