;; Euclid's algorithm on the leading bits of two long integers, many quotients at a time: see euclid.ts.
;; `npm run generate` assembles this file into gen/wasm/euclid-kernel.ts.
;;
;; An integer is an array of 32-bit limbs, least significant first. A step finds a matrix with entries below 2^31 from
;; the leading 63 bits and applies it in place: a product of a limb and an entry, with a carry, fits 64 bits.
(module
  ;; The remainders are at 0 and 512, the magnitudes of their cofactors at 1024 and 1536.
  (memory (export "memory") 1)
  ;; The numbers of limbs of the first remainder and of the cofactors.
  (global $count (export "count") (mut i32) (i32.const 0))
  (global $cofactorCount (export "cofactorCount") (mut i32) (i32.const 0))
  ;; The cofactors of the remainders have the signs - and +, or if flipped + and -.
  (global $isFlipped (export "isFlipped") (mut i32) (i32.const 0))

  ;; A step's matrix ((a, b), (c, d)), as magnitudes.
  (global $a (mut i64) (i64.const 0))
  (global $b (mut i64) (i64.const 0))
  (global $c (mut i64) (i64.const 0))
  (global $d (mut i64) (i64.const 0))

  ;; Takes steps until the second remainder has at most about $endBits bits, or the first has at most two limbs. Returns
  ;; 0 if it stops earlier, because a quotient is too long for a step or the second remainder is zero.
  (func (export "run") (param $endBits i32) (result i32)
    (local $n i32) (local $zeros i32) (local $end i64) (local $excess i32) (local $x i64) (local $y i64)
    (local $parity i32)
    (local.set $n (global.get $count))
    (block $short
      (loop $steps
        (br_if $short (i32.le_u (local.get $n) (i32.const 2)))
        (local.set $zeros (i32.clz (i32.load (call $lastLimb (local.get $n)))))
        (local.set $x (call $leading (local.get $n) (local.get $zeros)))
        ;; The same positions of the second remainder.
        (local.set $y (call $leading (i32.add (local.get $n) (i32.const 128)) (local.get $zeros)))
        ;; The leading bits begin 63 positions below the highest bit of the first remainder.
        (local.set $excess
          (i32.sub (local.get $endBits)
            (i32.sub (i32.sub (i32.shl (local.get $n) (i32.const 5)) (local.get $zeros)) (i32.const 63))))
        (local.set $end (i64.const 1))
        (if (i32.gt_s (local.get $excess) (i32.const 0))
          (then
            (local.set $end
              (i64.shl (i64.const 1)
                (i64.extend_i32_u
                  (select (local.get $excess) (i32.const 62) (i32.lt_s (local.get $excess) (i32.const 62))))))))
        (local.set $parity (call $findStep (local.get $x) (local.get $y) (local.get $end)))
        (if (i32.eqz (local.get $parity))
          (then
            (global.set $count (local.get $n))
            (return
              (i32.and
                (i32.gt_s (local.get $excess) (i32.const 0))
                (i64.le_s (i64.sub (local.get $y) (i64.const 1)) (local.get $end))))))
        (call $applyStep (local.get $n) (local.get $parity))
        (loop $trim
          (if (i32.eqz (i32.load (call $lastLimb (local.get $n))))
            (then
              (local.set $n (i32.sub (local.get $n) (i32.const 1)))
              (br $trim))))
        (br $steps)))
    (global.set $count (local.get $n))
    (i32.const 1))

  ;; Runs Euclid to the end on remainders of at most two limbs. Returns 0 if a quotient is too long for a step.
  (func (export "finish") (result i32)
    (local $x i64) (local $y i64) (local $a i64) (local $b i64) (local $c i64) (local $d i64)
    (local $quotient i64) (local $next i64) (local $parity i32)
    (local.set $x (i64.load (i32.const 0)))
    (local.set $y (i64.load (i32.const 512)))
    (loop $steps
      (local.set $a (i64.const 1)) (local.set $b (i64.const 0))
      (local.set $c (i64.const 0)) (local.set $d (i64.const 1))
      (local.set $parity (i32.const 1))
      (block $full
        (loop $quotients
          (br_if $full (i64.eqz (local.get $y)))
          (local.set $quotient (i64.div_u (local.get $x) (local.get $y)))
          (br_if $full (i64.ge_u (local.get $quotient) (i64.const 0x80000000)))
          ;; d is the largest entry.
          (local.set $next (i64.add (local.get $b) (i64.mul (local.get $quotient) (local.get $d))))
          (br_if $full (i64.ge_u (local.get $next) (i64.const 0x80000000)))
          (local.set $b (local.get $d))
          (local.set $d (local.get $next))
          (local.set $next (i64.add (local.get $a) (i64.mul (local.get $quotient) (local.get $c))))
          (local.set $a (local.get $c))
          (local.set $c (local.get $next))
          (local.set $next (i64.sub (local.get $x) (i64.mul (local.get $quotient) (local.get $y))))
          (local.set $x (local.get $y))
          (local.set $y (local.get $next))
          (local.set $parity (i32.sub (i32.const 0) (local.get $parity)))
          (br $quotients)))
      (global.set $a (local.get $a)) (global.set $b (local.get $b))
      (global.set $c (local.get $c)) (global.set $d (local.get $d))
      (if (i32.lt_s (local.get $parity) (i32.const 0))
        (then (global.set $isFlipped (i32.xor (global.get $isFlipped) (i32.const 1)))))
      (call $applyCofactors)
      ;; Another step follows unless it is over or found no quotient.
      (br_if $steps (i32.and (i64.ne (local.get $y) (i64.const 0)) (i64.ne (local.get $b) (i64.const 0)))))
    (i64.store (i32.const 0) (local.get $x))
    (i64.store (i32.const 512) (local.get $y))
    (i64.eqz (local.get $y)))

  ;; The address of the last of $n limbs.
  (func $lastLimb (param $n i32) (result i32)
    (i32.sub (i32.shl (local.get $n) (i32.const 2)) (i32.const 4)))

  ;; Returns 63 bits of an integer that ends before limb $n, from $zeros bits below its top.
  (func $leading (param $n i32) (param $zeros i32) (result i64)
    (local $at i32) (local $shift i64)
    (local.set $at (i32.shl (local.get $n) (i32.const 2)))
    (local.set $shift (i64.extend_i32_u (local.get $zeros)))
    (i64.shr_u
      (i64.or
        (i64.shl (i64.load (i32.sub (local.get $at) (i32.const 8))) (local.get $shift))
        (i64.shr_u
          (i64.load32_u (i32.sub (local.get $at) (i32.const 12)))
          (i64.sub (i64.const 32) (local.get $shift))))
      (i64.const 1)))

  ;; Runs Euclid on the leading bits ($x, $y) of two long integers, while the quotients certainly equal theirs and their
  ;; smaller remainder certainly exceeds $end. Stores the matrix. Returns 1 after an even number of quotients, when its
  ;; signs are + - and - +, -1 after an odd number, when they are - + and + -, and 0 if there were no quotients.
  (func $findStep (param $x i64) (param $y i64) (param $end i64) (result i32)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64) (local $quotient i64)
    (local $nextY i64) (local $nextC i64) (local $nextD i64) (local $parity i32)
    (local.set $a (i64.const 1)) (local.set $d (i64.const 1)) (local.set $parity (i32.const 1))
    (block $uncertain
      (loop $quotients
        ;; The error of y is below the larger cofactor, d.
        (br_if $uncertain (i64.le_s (i64.sub (local.get $y) (local.get $d)) (local.get $end)))
        (local.set $nextY (i64.sub (local.get $x) (local.get $y)))
        ;; Two quotients in five are one, and need no division.
        (if (i64.lt_u (local.get $nextY) (local.get $y))
          (then
            (local.set $nextC (i64.add (local.get $a) (local.get $c)))
            (local.set $nextD (i64.add (local.get $b) (local.get $d))))
          (else
            (local.set $quotient (i64.div_u (local.get $x) (local.get $y)))
            (br_if $uncertain (i64.ge_u (local.get $quotient) (i64.const 0x80000000)))
            (local.set $nextY (i64.sub (local.get $x) (i64.mul (local.get $quotient) (local.get $y))))
            (local.set $nextC (i64.add (local.get $a) (i64.mul (local.get $quotient) (local.get $c))))
            (local.set $nextD (i64.add (local.get $b) (i64.mul (local.get $quotient) (local.get $d))))))
        (br_if $uncertain (i64.ge_u (local.get $nextD) (i64.const 0x80000000)))
        ;; The condition of Collins and Jebelean.
        (if (i32.gt_s (local.get $parity) (i32.const 0))
          (then
            (br_if $uncertain (i64.lt_s (local.get $nextY) (local.get $nextD)))
            (br_if $uncertain
              (i64.lt_s
                (i64.sub (local.get $y) (local.get $nextY))
                (i64.add (local.get $nextC) (local.get $c)))))
          (else
            (br_if $uncertain (i64.lt_s (local.get $nextY) (local.get $nextC)))
            (br_if $uncertain
              (i64.lt_s
                (i64.sub (local.get $y) (local.get $nextY))
                (i64.add (local.get $nextD) (local.get $d))))))
        (local.set $x (local.get $y))
        (local.set $y (local.get $nextY))
        (local.set $a (local.get $c))
        (local.set $b (local.get $d))
        (local.set $c (local.get $nextC))
        (local.set $d (local.get $nextD))
        (local.set $parity (i32.sub (i32.const 0) (local.get $parity)))
        (br $quotients)))
    (global.set $a (local.get $a)) (global.set $b (local.get $b))
    (global.set $c (local.get $c)) (global.set $d (local.get $d))
    (select (i32.const 0) (local.get $parity) (i64.eqz (local.get $b))))

  ;; Applies the matrix, with the signs of its parity, to the $n limbs of the remainders and to the cofactors.
  (func $applyStep (param $n i32) (param $parity i32)
    (local $sign i64)
    (local.set $sign (i64.extend_i32_s (local.get $parity)))
    (call $applyRemainders
      (local.get $n)
      (i64.mul (global.get $a) (local.get $sign)) (i64.mul (global.get $b) (local.get $sign))
      (i64.mul (global.get $c) (local.get $sign)) (i64.mul (global.get $d) (local.get $sign)))
    (call $applyCofactors)
    (if (i32.lt_s (local.get $parity) (i32.const 0))
      (then (global.set $isFlipped (i32.xor (global.get $isFlipped) (i32.const 1))))))

  ;; Replaces the remainders (r, s) by (a r - b s, d s - c r), which are not negative and not longer.
  (func $applyRemainders (param $n i32) (param $a i64) (param $b i64) (param $c i64) (param $d i64)
    (local $at i32) (local $end i32) (local $r i64) (local $s i64) (local $carryR i64) (local $carryS i64)
    (local.set $end (i32.shl (local.get $n) (i32.const 2)))
    (loop $limbs
      (local.set $r (i64.load32_u (local.get $at)))
      (local.set $s (i64.load32_u offset=512 (local.get $at)))
      (local.set $carryR
        (i64.add (local.get $carryR)
          (i64.sub
            (i64.mul (local.get $a) (local.get $r))
            (i64.mul (local.get $b) (local.get $s)))))
      (local.set $carryS
        (i64.add (local.get $carryS)
          (i64.sub
            (i64.mul (local.get $d) (local.get $s))
            (i64.mul (local.get $c) (local.get $r)))))
      (i64.store32 (local.get $at) (local.get $carryR))
      (i64.store32 offset=512 (local.get $at) (local.get $carryS))
      (local.set $carryR (i64.shr_s (local.get $carryR) (i64.const 32)))
      (local.set $carryS (i64.shr_s (local.get $carryS) (i64.const 32)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $limbs (i32.lt_u (local.get $at) (local.get $end)))))

  ;; Replaces the cofactors' magnitudes (y, z) by (a y + b z, c y + d z).
  (func $applyCofactors
    (local $at i32) (local $end i32) (local $y i64) (local $z i64) (local $carryY i64) (local $carryZ i64)
    (local.set $end (i32.shl (global.get $cofactorCount) (i32.const 2)))
    (loop $limbs
      (local.set $y (i64.load32_u offset=1024 (local.get $at)))
      (local.set $z (i64.load32_u offset=1536 (local.get $at)))
      (local.set $carryY
        (i64.add (local.get $carryY)
          (i64.add
            (i64.mul (global.get $a) (local.get $y))
            (i64.mul (global.get $b) (local.get $z)))))
      (local.set $carryZ
        (i64.add (local.get $carryZ)
          (i64.add
            (i64.mul (global.get $c) (local.get $y))
            (i64.mul (global.get $d) (local.get $z)))))
      (i64.store32 offset=1024 (local.get $at) (local.get $carryY))
      (i64.store32 offset=1536 (local.get $at) (local.get $carryZ))
      (local.set $carryY (i64.shr_u (local.get $carryY) (i64.const 32)))
      (local.set $carryZ (i64.shr_u (local.get $carryZ) (i64.const 32)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $limbs (i32.lt_u (local.get $at) (local.get $end))))
    (i64.store32 offset=1024 (local.get $at) (local.get $carryY))
    (i64.store32 offset=1536 (local.get $at) (local.get $carryZ))
    (if (i64.ne (i64.or (local.get $carryY) (local.get $carryZ)) (i64.const 0))
      (then (global.set $cofactorCount (i32.add (global.get $cofactorCount) (i32.const 1)))))))
