; linear_0: y: product over k with m (i), n (j); finished before it is stored
; cpu.contraction version 1, rows=2 vectors=1 unroll=1 mc=112 nc=1024 kc=512

define void @ek_linear_contraction_75abac23_pack(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr noalias %scratch) nounwind {
entry:
  %packed = load ptr, ptr %arguments, align 8, !invariant.load !0
  %panels.argument = getelementptr i64, ptr %arguments, i64 1
  %panels = load i64, ptr %panels.argument, align 8, !invariant.load !0
  %k.size.argument = getelementptr i64, ptr %arguments, i64 2
  %k.size = load i64, ptr %k.size.argument, align 8, !invariant.load !0
  %n.size.argument = getelementptr i64, ptr %arguments, i64 3
  %n.size = load i64, ptr %n.size.argument, align 8, !invariant.load !0
  %w.argument = getelementptr i64, ptr %arguments, i64 4
  %w = load ptr, ptr %w.argument, align 8, !invariant.load !0
  br label %panel.head
panel.head:
  %panel = phi i64 [ %begin, %entry ], [ %panel.next, %if.end ]
  %panel.more = icmp slt i64 %panel, %end
  br i1 %panel.more, label %panel.body, label %panel.exit
panel.body:
  %batch = udiv i64 %panel, %panels
  %in.batch = urem i64 %panel, %panels
  %n = mul nsw i64 %in.batch, 4
  %t = mul nsw i64 %panel, %k.size
  %panel.offset = mul nsw i64 %t, 4
  %to = getelementptr float, ptr %packed, i64 %panel.offset
  %t.1 = sub nsw i64 %n.size, %n
  %present = call i64 @llvm.smin.i64(i64 %t.1, i64 4)
  %t.2 = add nsw i64 %n, 4
  %whole = icmp sle i64 %t.2, %n.size
  br i1 %whole, label %if.then, label %if.else
if.then:
  %t.3 = and i64 %k.size, -4
  br label %step.head
step.head:
  %step = phi i64 [ 0, %if.then ], [ %step.next, %step.body ]
  %step.more = icmp slt i64 %step, %t.3
  br i1 %step.more, label %step.body, label %step.exit
step.body:
  %t.4 = mul nsw i64 %n, %k.size
  %offset = add nsw i64 %t.4, %step
  %at = getelementptr float, ptr %w, i64 %offset
  %value = load <4 x float>, ptr %at, align 4, !invariant.load !0
  %row = add nsw i64 %n, 1
  %t.5 = mul nsw i64 %row, %k.size
  %offset.1 = add nsw i64 %t.5, %step
  %at.1 = getelementptr float, ptr %w, i64 %offset.1
  %value.1 = load <4 x float>, ptr %at.1, align 4, !invariant.load !0
  %row.1 = add nsw i64 %n, 2
  %t.6 = mul nsw i64 %row.1, %k.size
  %offset.2 = add nsw i64 %t.6, %step
  %at.2 = getelementptr float, ptr %w, i64 %offset.2
  %value.2 = load <4 x float>, ptr %at.2, align 4, !invariant.load !0
  %row.2 = add nsw i64 %n, 3
  %t.7 = mul nsw i64 %row.2, %k.size
  %offset.3 = add nsw i64 %t.7, %step
  %at.3 = getelementptr float, ptr %w, i64 %offset.3
  %value.3 = load <4 x float>, ptr %at.3, align 4, !invariant.load !0
  %shuffled = shufflevector <4 x float> %value, <4 x float> %value.2, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.1 = shufflevector <4 x float> %value, <4 x float> %value.2, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.2 = shufflevector <4 x float> %value.1, <4 x float> %value.3, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.3 = shufflevector <4 x float> %value.1, <4 x float> %value.3, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.4 = shufflevector <4 x float> %shuffled, <4 x float> %shuffled.2, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.5 = shufflevector <4 x float> %shuffled, <4 x float> %shuffled.2, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.6 = shufflevector <4 x float> %shuffled.1, <4 x float> %shuffled.3, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.7 = shufflevector <4 x float> %shuffled.1, <4 x float> %shuffled.3, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %t.8 = mul nsw i64 %step, 4
  %panel.at = getelementptr float, ptr %to, i64 %t.8
  store <4 x float> %shuffled.4, ptr %panel.at, align 4
  %t.9 = add nsw i64 %step, 1
  %t.10 = mul nsw i64 %t.9, 4
  %panel.at.1 = getelementptr float, ptr %to, i64 %t.10
  store <4 x float> %shuffled.5, ptr %panel.at.1, align 4
  %t.11 = add nsw i64 %step, 2
  %t.12 = mul nsw i64 %t.11, 4
  %panel.at.2 = getelementptr float, ptr %to, i64 %t.12
  store <4 x float> %shuffled.6, ptr %panel.at.2, align 4
  %t.13 = add nsw i64 %step, 3
  %t.14 = mul nsw i64 %t.13, 4
  %panel.at.3 = getelementptr float, ptr %to, i64 %t.14
  store <4 x float> %shuffled.7, ptr %panel.at.3, align 4
  %step.next = add nsw i64 %step, 4
  br label %step.head
step.exit:
  br label %step.1.head
step.1.head:
  %step.1 = phi i64 [ %t.3, %step.exit ], [ %step.1.next, %i.exit ]
  %step.1.more = icmp slt i64 %step.1, %k.size
  br i1 %step.1.more, label %step.1.body, label %step.1.exit
step.1.body:
  %t.15 = mul nsw i64 %step.1, 4
  br label %i.head
i.head:
  %i = phi i64 [ 0, %step.1.body ], [ %i.next, %i.body ]
  %i.more = icmp slt i64 %i, 4
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %t.16 = add nsw i64 %t.15, %i
  %panel.at.4 = getelementptr float, ptr %to, i64 %t.16
  %row.3 = add nsw i64 %n, %i
  %t.17 = mul nsw i64 %row.3, %k.size
  %offset.4 = add nsw i64 %t.17, %step.1
  %at.4 = getelementptr float, ptr %w, i64 %offset.4
  %value.4 = load float, ptr %at.4, align 4, !invariant.load !0
  store float %value.4, ptr %panel.at.4
  %i.next = add nsw i64 %i, 1
  br label %i.head
i.exit:
  %step.1.next = add nsw i64 %step.1, 1
  br label %step.1.head
step.1.exit:
  br label %if.end
if.else:
  br label %step.2.head
step.2.head:
  %step.2 = phi i64 [ 0, %if.else ], [ %step.2.next, %i.2.exit ]
  %step.2.more = icmp slt i64 %step.2, %k.size
  br i1 %step.2.more, label %step.2.body, label %step.2.exit
step.2.body:
  %t.18 = mul nsw i64 %step.2, 4
  br label %i.1.head
i.1.head:
  %i.1 = phi i64 [ 0, %step.2.body ], [ %i.1.next, %i.1.body ]
  %i.1.more = icmp slt i64 %i.1, %present
  br i1 %i.1.more, label %i.1.body, label %i.1.exit
i.1.body:
  %t.19 = add nsw i64 %t.18, %i.1
  %panel.at.5 = getelementptr float, ptr %to, i64 %t.19
  %row.4 = add nsw i64 %n, %i.1
  %t.20 = mul nsw i64 %row.4, %k.size
  %offset.5 = add nsw i64 %t.20, %step.2
  %at.5 = getelementptr float, ptr %w, i64 %offset.5
  %value.5 = load float, ptr %at.5, align 4, !invariant.load !0
  store float %value.5, ptr %panel.at.5
  %i.1.next = add nsw i64 %i.1, 1
  br label %i.1.head
i.1.exit:
  br label %i.2.head
i.2.head:
  %i.2 = phi i64 [ %present, %i.1.exit ], [ %i.2.next, %i.2.body ]
  %i.2.more = icmp slt i64 %i.2, 4
  br i1 %i.2.more, label %i.2.body, label %i.2.exit
i.2.body:
  %t.21 = add nsw i64 %t.18, %i.2
  %panel.at.6 = getelementptr float, ptr %to, i64 %t.21
  store float 0.0, ptr %panel.at.6
  %i.2.next = add nsw i64 %i.2, 1
  br label %i.2.head
i.2.exit:
  %step.2.next = add nsw i64 %step.2, 1
  br label %step.2.head
step.2.exit:
  br label %if.end
if.end:
  %panel.next = add nsw i64 %panel, 1
  br label %panel.head
panel.exit:
  ret void
}

define void @ek_linear_contraction_75abac23(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr noalias %scratch) nounwind {
entry:
  %packed = load ptr, ptr %arguments, align 8, !invariant.load !0
  %m.size.argument = getelementptr i64, ptr %arguments, i64 1
  %m.size = load i64, ptr %m.size.argument, align 8, !invariant.load !0
  %n.size.argument = getelementptr i64, ptr %arguments, i64 2
  %n.size = load i64, ptr %n.size.argument, align 8, !invariant.load !0
  %k.size.argument = getelementptr i64, ptr %arguments, i64 3
  %k.size = load i64, ptr %k.size.argument, align 8, !invariant.load !0
  %block.rows.argument = getelementptr i64, ptr %arguments, i64 4
  %block.rows = load i64, ptr %block.rows.argument, align 8, !invariant.load !0
  %block.columns.argument = getelementptr i64, ptr %arguments, i64 5
  %block.columns = load i64, ptr %block.columns.argument, align 8, !invariant.load !0
  %block.sum.argument = getelementptr i64, ptr %arguments, i64 6
  %block.sum = load i64, ptr %block.sum.argument, align 8, !invariant.load !0
  %m.blocks.argument = getelementptr i64, ptr %arguments, i64 7
  %m.blocks = load i64, ptr %m.blocks.argument, align 8, !invariant.load !0
  %n.blocks.argument = getelementptr i64, ptr %arguments, i64 8
  %n.blocks = load i64, ptr %n.blocks.argument, align 8, !invariant.load !0
  %panels.argument = getelementptr i64, ptr %arguments, i64 9
  %panels = load i64, ptr %panels.argument, align 8, !invariant.load !0
  %tile.step.argument = getelementptr i64, ptr %arguments, i64 10
  %tile.step = load i64, ptr %tile.step.argument, align 8, !invariant.load !0
  %x.argument = getelementptr i64, ptr %arguments, i64 11
  %x = load ptr, ptr %x.argument, align 8, !invariant.load !0
  %y.argument = getelementptr i64, ptr %arguments, i64 12
  %y = load ptr, ptr %y.argument, align 8, !invariant.load !0
  %b.argument = getelementptr i64, ptr %arguments, i64 13
  %b = load ptr, ptr %b.argument, align 8, !invariant.load !0
  %c.first = insertelement <4 x float> poison, float 0.0, i64 0
  %c.all = shufflevector <4 x float> %c.first, <4 x float> poison, <4 x i32> zeroinitializer
  %t = mul nsw i64 %block.rows, %block.sum
  %tiles = getelementptr float, ptr %scratch, i64 %t
  br label %task.head
task.head:
  %task = phi i64 [ %begin, %entry ], [ %task.next, %k0.exit ]
  %task.more = icmp slt i64 %task, %end
  br i1 %task.more, label %task.body, label %task.exit
task.body:
  %m.block = urem i64 %task, %m.blocks
  %rest = udiv i64 %task, %m.blocks
  %batch = udiv i64 %rest, %n.blocks
  %m0 = mul nsw i64 %m.block, %block.rows
  %n.block = urem i64 %rest, %n.blocks
  %n0 = mul nsw i64 %n.block, %block.columns
  %t.1 = add nsw i64 %m0, %block.rows
  %m1 = call i64 @llvm.smin.i64(i64 %t.1, i64 %m.size)
  %t.2 = add nsw i64 %n0, %block.columns
  %n1 = call i64 @llvm.smin.i64(i64 %t.2, i64 %n.size)
  %k.end = call i64 @llvm.smax.i64(i64 %k.size, i64 1)
  br label %k0.head
k0.head:
  %k0 = phi i64 [ 0, %task.body ], [ %k0.next, %n.exit ]
  %k0.more = icmp slt i64 %k0, %k.end
  br i1 %k0.more, label %k0.body, label %k0.exit
k0.body:
  %t.3 = add nsw i64 %k0, %block.sum
  %k1 = call i64 @llvm.smin.i64(i64 %t.3, i64 %k.size)
  ; pack the block's rows of a for this stretch of the sum
  br label %m.head
m.head:
  %m = phi i64 [ %m0, %k0.body ], [ %m.next, %if.end ]
  %m.more = icmp slt i64 %m, %m1
  br i1 %m.more, label %m.body, label %m.exit
m.body:
  %t.4 = sub nsw i64 %m, %m0
  %t.5 = mul nsw i64 %t.4, %block.sum
  %a.panel = getelementptr float, ptr %scratch, i64 %t.5
  %t.6 = sub nsw i64 %m1, %m
  %present = call i64 @llvm.smin.i64(i64 %t.6, i64 2)
  %t.7 = add nsw i64 %m, 2
  %whole = icmp sle i64 %t.7, %m1
  br i1 %whole, label %if.then, label %if.else
if.then:
  %t.8 = sub nsw i64 %k1, %k0
  %t.9 = and i64 %t.8, -4
  %whole.1 = add nsw i64 %k0, %t.9
  br label %step.head
step.head:
  %step = phi i64 [ %k0, %if.then ], [ %step.next, %step.body ]
  %step.more = icmp slt i64 %step, %whole.1
  br i1 %step.more, label %step.body, label %step.exit
step.body:
  %t.10 = mul nsw i64 %m, %k.size
  %offset = add nsw i64 %t.10, %step
  %at = getelementptr float, ptr %x, i64 %offset
  %value = load <4 x float>, ptr %at, align 4, !invariant.load !0
  %row = add nsw i64 %m, 1
  %t.11 = mul nsw i64 %row, %k.size
  %offset.1 = add nsw i64 %t.11, %step
  %at.1 = getelementptr float, ptr %x, i64 %offset.1
  %value.1 = load <4 x float>, ptr %at.1, align 4, !invariant.load !0
  %shuffled = shufflevector <4 x float> %value, <4 x float> %value.1, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.1 = shufflevector <4 x float> %value, <4 x float> %value.1, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.2 = shufflevector <4 x float> %value.1, <4 x float> %value.1, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.3 = shufflevector <4 x float> %value.1, <4 x float> %value.1, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.4 = shufflevector <4 x float> %shuffled, <4 x float> %shuffled.2, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.5 = shufflevector <4 x float> %shuffled, <4 x float> %shuffled.2, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %shuffled.6 = shufflevector <4 x float> %shuffled.1, <4 x float> %shuffled.3, <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %shuffled.7 = shufflevector <4 x float> %shuffled.1, <4 x float> %shuffled.3, <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %t.12 = sub nsw i64 %step, %k0
  %t.13 = mul nsw i64 %t.12, 2
  %panel.at = getelementptr float, ptr %a.panel, i64 %t.13
  %shuffled.8 = shufflevector <4 x float> %shuffled.4, <4 x float> %shuffled.4, <2 x i32> <i32 0, i32 1>
  store <2 x float> %shuffled.8, ptr %panel.at, align 4
  %t.14 = add nsw i64 %step, 1
  %t.15 = sub nsw i64 %t.14, %k0
  %t.16 = mul nsw i64 %t.15, 2
  %panel.at.1 = getelementptr float, ptr %a.panel, i64 %t.16
  %shuffled.9 = shufflevector <4 x float> %shuffled.5, <4 x float> %shuffled.5, <2 x i32> <i32 0, i32 1>
  store <2 x float> %shuffled.9, ptr %panel.at.1, align 4
  %t.17 = add nsw i64 %step, 2
  %t.18 = sub nsw i64 %t.17, %k0
  %t.19 = mul nsw i64 %t.18, 2
  %panel.at.2 = getelementptr float, ptr %a.panel, i64 %t.19
  %shuffled.10 = shufflevector <4 x float> %shuffled.6, <4 x float> %shuffled.6, <2 x i32> <i32 0, i32 1>
  store <2 x float> %shuffled.10, ptr %panel.at.2, align 4
  %t.20 = add nsw i64 %step, 3
  %t.21 = sub nsw i64 %t.20, %k0
  %t.22 = mul nsw i64 %t.21, 2
  %panel.at.3 = getelementptr float, ptr %a.panel, i64 %t.22
  %shuffled.11 = shufflevector <4 x float> %shuffled.7, <4 x float> %shuffled.7, <2 x i32> <i32 0, i32 1>
  store <2 x float> %shuffled.11, ptr %panel.at.3, align 4
  %step.next = add nsw i64 %step, 4
  br label %step.head
step.exit:
  br label %step.1.head
step.1.head:
  %step.1 = phi i64 [ %whole.1, %step.exit ], [ %step.1.next, %i.exit ]
  %step.1.more = icmp slt i64 %step.1, %k1
  br i1 %step.1.more, label %step.1.body, label %step.1.exit
step.1.body:
  %t.23 = sub nsw i64 %step.1, %k0
  %t.24 = mul nsw i64 %t.23, 2
  br label %i.head
i.head:
  %i = phi i64 [ 0, %step.1.body ], [ %i.next, %i.body ]
  %i.more = icmp slt i64 %i, 2
  br i1 %i.more, label %i.body, label %i.exit
i.body:
  %t.25 = add nsw i64 %t.24, %i
  %panel.at.4 = getelementptr float, ptr %a.panel, i64 %t.25
  %row.1 = add nsw i64 %m, %i
  %t.26 = mul nsw i64 %row.1, %k.size
  %offset.2 = add nsw i64 %t.26, %step.1
  %at.2 = getelementptr float, ptr %x, i64 %offset.2
  %value.2 = load float, ptr %at.2, align 4, !invariant.load !0
  store float %value.2, ptr %panel.at.4
  %i.next = add nsw i64 %i, 1
  br label %i.head
i.exit:
  %step.1.next = add nsw i64 %step.1, 1
  br label %step.1.head
step.1.exit:
  br label %if.end
if.else:
  br label %step.2.head
step.2.head:
  %step.2 = phi i64 [ %k0, %if.else ], [ %step.2.next, %i.2.exit ]
  %step.2.more = icmp slt i64 %step.2, %k1
  br i1 %step.2.more, label %step.2.body, label %step.2.exit
step.2.body:
  %t.27 = sub nsw i64 %step.2, %k0
  %t.28 = mul nsw i64 %t.27, 2
  br label %i.1.head
i.1.head:
  %i.1 = phi i64 [ 0, %step.2.body ], [ %i.1.next, %i.1.body ]
  %i.1.more = icmp slt i64 %i.1, %present
  br i1 %i.1.more, label %i.1.body, label %i.1.exit
i.1.body:
  %t.29 = add nsw i64 %t.28, %i.1
  %panel.at.5 = getelementptr float, ptr %a.panel, i64 %t.29
  %row.2 = add nsw i64 %m, %i.1
  %t.30 = mul nsw i64 %row.2, %k.size
  %offset.3 = add nsw i64 %t.30, %step.2
  %at.3 = getelementptr float, ptr %x, i64 %offset.3
  %value.3 = load float, ptr %at.3, align 4, !invariant.load !0
  store float %value.3, ptr %panel.at.5
  %i.1.next = add nsw i64 %i.1, 1
  br label %i.1.head
i.1.exit:
  br label %i.2.head
i.2.head:
  %i.2 = phi i64 [ %present, %i.1.exit ], [ %i.2.next, %i.2.body ]
  %i.2.more = icmp slt i64 %i.2, 2
  br i1 %i.2.more, label %i.2.body, label %i.2.exit
i.2.body:
  %t.31 = add nsw i64 %t.28, %i.2
  %panel.at.6 = getelementptr float, ptr %a.panel, i64 %t.31
  store float 0.0, ptr %panel.at.6
  %i.2.next = add nsw i64 %i.2, 1
  br label %i.2.head
i.2.exit:
  %step.2.next = add nsw i64 %step.2, 1
  br label %step.2.head
step.2.exit:
  br label %if.end
if.end:
  %m.next = add nsw i64 %m, 2
  br label %m.head
m.exit:
  ; all pairs of panels
  br label %n.head
n.head:
  %n = phi i64 [ %n0, %m.exit ], [ %n.next, %m.1.exit ]
  %n.more = icmp slt i64 %n, %n1
  br i1 %n.more, label %n.body, label %n.exit
n.body:
  br label %m.1.head
m.1.head:
  %m.1 = phi i64 [ %m0, %n.body ], [ %m.1.next, %if.1.end ]
  %m.1.more = icmp slt i64 %m.1, %m1
  br i1 %m.1.more, label %m.1.body, label %m.1.exit
m.1.body:
  %t.32 = mul nsw i64 %panels, 4
  %t.33 = mul nsw i64 %batch, %t.32
  %column = add nsw i64 %t.33, %n
  %t.34 = mul nsw i64 %k0, 4
  %t.35 = mul nsw i64 %column, %k.size
  %b.offset = add nsw i64 %t.35, %t.34
  %b.panel = getelementptr float, ptr %packed, i64 %b.offset
  %t.36 = sub nsw i64 %m.1, %m0
  %t.37 = mul nsw i64 %t.36, 4
  %t.38 = sub nsw i64 %n, %n0
  %t.39 = mul nsw i64 %t.38, %block.rows
  %tile.offset = add nsw i64 %t.39, %t.37
  %t.40 = mul nsw i64 %tile.offset, %tile.step
  %tile = getelementptr float, ptr %tiles, i64 %t.40
  %first = icmp eq i64 %k0, 0
  %t.41 = sub nsw i64 %m.1, %m0
  %t.42 = mul nsw i64 %t.41, %block.sum
  %a.panel.1 = getelementptr float, ptr %scratch, i64 %t.42
  %steps = sub nsw i64 %k1, %k0
  call void @ek_block_2x4_f32_u1(ptr %a.panel.1, ptr %b.panel, i64 %steps, ptr %tile, i1 %first)
  %last = icmp eq i64 %k1, %k.size
  br i1 %last, label %if.1.then, label %if.1.else
if.1.then:
  %t.43 = sub nsw i64 %n1, %n
  %present.1 = call i64 @llvm.smin.i64(i64 %t.43, i64 4)
  %t.44 = add nsw i64 %m.1, 2
  %m.end = call i64 @llvm.smin.i64(i64 %t.44, i64 %m1)
  br label %i.3.head
i.3.head:
  %i.3 = phi i64 [ %m.1, %if.1.then ], [ %i.3.next, %j.1.exit ]
  %i.3.more = icmp slt i64 %i.3, %m.end
  br i1 %i.3.more, label %i.3.body, label %i.3.exit
i.3.body:
  %t.45 = sub nsw i64 %i.3, %m.1
  %t.46 = mul nsw i64 %t.45, 4
  %tile.row = getelementptr float, ptr %tile, i64 %t.46
  %whole.2 = and i64 %present.1, -4
  br label %j.head
j.head:
  %j = phi i64 [ 0, %i.3.body ], [ %j.next, %j.body ]
  %j.more = icmp slt i64 %j, %whole.2
  br i1 %j.more, label %j.body, label %j.exit
j.body:
  %column.1 = add nsw i64 %n, %j
  %sum.at = getelementptr float, ptr %tile.row, i64 %j
  %sum = load <4 x float>, ptr %sum.at, align 4
  %t.47 = mul nsw i64 %i.3, %n.size
  %offset.4 = add nsw i64 %t.47, %column.1
  %to = getelementptr float, ptr %y, i64 %offset.4
  %at.4 = getelementptr float, ptr %b, i64 %column.1
  %value.4 = load <4 x float>, ptr %at.4, align 4, !invariant.load !0
  %t.48 = fadd <4 x float> %sum, %value.4
  %t.49 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %t.48, <4 x float> %c.all)
  store <4 x float> %t.49, ptr %to, align 4
  %j.next = add nsw i64 %j, 4
  br label %j.head
j.exit:
  br label %j.1.head
j.1.head:
  %j.1 = phi i64 [ %whole.2, %j.exit ], [ %j.1.next, %j.1.body ]
  %j.1.more = icmp slt i64 %j.1, %present.1
  br i1 %j.1.more, label %j.1.body, label %j.1.exit
j.1.body:
  %column.2 = add nsw i64 %n, %j.1
  %sum.at.1 = getelementptr float, ptr %tile.row, i64 %j.1
  %sum.1 = load float, ptr %sum.at.1, align 4
  %t.50 = mul nsw i64 %i.3, %n.size
  %offset.5 = add nsw i64 %t.50, %column.2
  %to.1 = getelementptr float, ptr %y, i64 %offset.5
  %at.5 = getelementptr float, ptr %b, i64 %column.2
  %value.5 = load float, ptr %at.5, align 4, !invariant.load !0
  %t.51 = fadd float %sum.1, %value.5
  %t.52 = call float @llvm.maximum.f32(float %t.51, float 0.0)
  store float %t.52, ptr %to.1, align 4
  %j.1.next = add nsw i64 %j.1, 1
  br label %j.1.head
j.1.exit:
  %i.3.next = add nsw i64 %i.3, 1
  br label %i.3.head
i.3.exit:
  br label %if.1.end
if.1.else:
  br label %if.1.end
if.1.end:
  %m.1.next = add nsw i64 %m.1, 2
  br label %m.1.head
m.1.exit:
  %n.next = add nsw i64 %n, 4
  br label %n.head
n.exit:
  %k0.next = add nsw i64 %k0, %block.sum
  br label %k0.head
k0.exit:
  %task.next = add nsw i64 %task, 1
  br label %task.head
task.exit:
  ret void
}

define internal void @ek_block_2x4_f32_u1(ptr noalias %a, ptr noalias %b, i64 %steps, ptr noalias %tile, i1 %first) nounwind {
entry:
  br i1 %first, label %if.then, label %if.else
if.then:
  br label %if.end
if.else:
  %sum = load <4 x float>, ptr %tile
  %tile.at = getelementptr float, ptr %tile, i64 4
  %sum.1 = load <4 x float>, ptr %tile.at
  br label %if.end
if.end:
  %if.value = phi <4 x float> [ zeroinitializer, %if.then ], [ %sum, %if.else ]
  %if.value.1 = phi <4 x float> [ zeroinitializer, %if.then ], [ %sum.1, %if.else ]
  br label %step.head
step.head:
  %step = phi i64 [ 0, %if.end ], [ %step.next, %step.body ]
  %step.carried = phi <4 x float> [ %if.value, %if.end ], [ %sum.2, %step.body ]
  %step.carried.1 = phi <4 x float> [ %if.value.1, %if.end ], [ %sum.3, %step.body ]
  %step.more = icmp slt i64 %step, %steps
  br i1 %step.more, label %step.body, label %step.exit
step.body:
  %t = mul nsw i64 %step, 2
  %a.row = getelementptr float, ptr %a, i64 %t
  %t.1 = mul nsw i64 %step, 4
  %b.row = getelementptr float, ptr %b, i64 %t.1
  %b.1 = load <4 x float>, ptr %b.row, align 16
  %a.1 = load float, ptr %a.row
  %a.1.first = insertelement <4 x float> poison, float %a.1, i64 0
  %a.1.all = shufflevector <4 x float> %a.1.first, <4 x float> poison, <4 x i32> zeroinitializer
  %sum.2 = call <4 x float> @llvm.fma.v4f32(<4 x float> %a.1.all, <4 x float> %b.1, <4 x float> %step.carried)
  %a.at = getelementptr float, ptr %a.row, i64 1
  %a.2 = load float, ptr %a.at
  %a.2.first = insertelement <4 x float> poison, float %a.2, i64 0
  %a.2.all = shufflevector <4 x float> %a.2.first, <4 x float> poison, <4 x i32> zeroinitializer
  %sum.3 = call <4 x float> @llvm.fma.v4f32(<4 x float> %a.2.all, <4 x float> %b.1, <4 x float> %step.carried.1)
  %step.next = add nsw i64 %step, 1
  br label %step.head
step.exit:
  store <4 x float> %step.carried, ptr %tile, align 4
  %tile.at.1 = getelementptr float, ptr %tile, i64 4
  store <4 x float> %step.carried.1, ptr %tile.at.1, align 4
  ret void
}

declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maximum.v4f32(<4 x float>, <4 x float>)
declare float @llvm.maximum.f32(float, float)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
!0 = !{}

; {"buffers":[{"alignment":256,"bytes":"ceil_div(N, 4) * K * 4 * 4","dtype":"f32","kind":"scratch","name":"linear_0.packed","zero":false},{"alignment":256,"bytes":"0","dtype":"f32","kind":"input","name":"w","zero":false},{"alignment":256,"bytes":"0","dtype":"f32","kind":"input","name":"x","zero":false},{"alignment":256,"bytes":"0","dtype":"f32","kind":"output","name":"y","zero":false},{"alignment":256,"bytes":"0","dtype":"f32","kind":"input","name":"b","zero":false}],"scalars":[],"steps":[{"arguments":[{"offset":"0","pointer":0},{"bytes":8,"size":"ceil_div(N, 4)"},{"bytes":8,"size":"K"},{"bytes":8,"size":"N"},{"offset":"0","pointer":1}],"entry":"ek_linear_contraction_75abac23_pack","grain":"ceil_div(32768, max(K * 4, 1))","scratch":"0","step":"cpu","tasks":"ceil_div(N, 4)"},{"arguments":[{"offset":"0","pointer":0},{"bytes":8,"size":"M"},{"bytes":8,"size":"N"},{"bytes":8,"size":"K"},{"bytes":8,"size":"max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)"},{"bytes":8,"size":"max(ceil_div(ceil_div(N, max(max(ceil_div(N, 1024), ceil_div(sm_count, max(ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)), 1))), 1)), 4) * 4, 4)"},{"bytes":8,"size":"max(ceil_div(ceil_div(K, max(ceil_div(K, 512), 1)), 16) * 16, 16)"},{"bytes":8,"size":"ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2))"},{"bytes":8,"size":"ceil_div(N, max(ceil_div(ceil_div(N, max(max(ceil_div(N, 1024), ceil_div(sm_count, max(ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)), 1))), 1)), 4) * 4, 4))"},{"bytes":8,"size":"ceil_div(N, 4)"},{"bytes":8,"size":"min(max(ceil_div(K, max(ceil_div(ceil_div(K, max(ceil_div(K, 512), 1)), 16) * 16, 16)) - 1, 0), 1)"},{"offset":"0","pointer":2},{"offset":"0","pointer":3},{"offset":"0","pointer":4}],"entry":"ek_linear_contraction_75abac23","grain":"ceil_div(32768, max(max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2) * max(ceil_div(ceil_div(N, max(max(ceil_div(N, 1024), ceil_div(sm_count, max(ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)), 1))), 1)), 4) * 4, 4) * max(ceil_div(K, 16), 1), 1))","scratch":"(max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2) * max(ceil_div(ceil_div(K, max(ceil_div(K, 512), 1)), 16) * 16, 16) + (8 + min(max(ceil_div(K, max(ceil_div(ceil_div(K, max(ceil_div(K, 512), 1)), 16) * 16, 16)) - 1, 0), 1) * max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2) * max(ceil_div(ceil_div(N, max(max(ceil_div(N, 1024), ceil_div(sm_count, max(ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)), 1))), 1)), 4) * 4, 4))) * 4 + 64","step":"cpu","tasks":"ceil_div(N, max(ceil_div(ceil_div(N, max(max(ceil_div(N, 1024), ceil_div(sm_count, max(ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2)), 1))), 1)), 4) * 4, 4)) * ceil_div(M, max(ceil_div(ceil_div(M, max(ceil_div(ceil_div(M, 112), sm_count) * sm_count, 1)), 2) * 2, 2))"}]}
