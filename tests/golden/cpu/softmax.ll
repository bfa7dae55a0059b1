; softmax_0: y: max, sum over c of each row (r), then its elements: the row is read from memory once where it fits on chip
; cpu.rows version 1, across_rows=0 lanes=4 vectors=2 split=0 chunk=16384

define void @ek_softmax_rows_5c43ab7a(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr noalias %scratch) nounwind {
entry:
  %rows = load i64, ptr %arguments, align 8, !invariant.load !0
  %columns.argument = getelementptr i64, ptr %arguments, i64 1
  %columns = load i64, ptr %columns.argument, align 8, !invariant.load !0
  %c.first = insertelement <4 x float> poison, float 0xFFF0000000000000, i64 0
  %c.all = shufflevector <4 x float> %c.first, <4 x float> poison, <4 x i32> zeroinitializer
  %x.argument = getelementptr i64, ptr %arguments, i64 2
  %x = load ptr, ptr %x.argument, align 8, !invariant.load !0
  %y.argument = getelementptr i64, ptr %arguments, i64 3
  %y = load ptr, ptr %y.argument, align 8, !invariant.load !0
  %to = call i64 @llvm.smin.i64(i64 %end, i64 %rows)
  br label %row.head
row.head:
  %row = phi i64 [ %begin, %entry ], [ %row.next, %column.11.exit ]
  %row.more = icmp slt i64 %row, %to
  br i1 %row.more, label %row.body, label %row.exit
row.body:
  %whole = and i64 %columns, -8
  br label %column.head
column.head:
  %column = phi i64 [ 0, %row.body ], [ %column.next, %column.body ]
  %column.carried = phi <4 x float> [ %c.all, %row.body ], [ %t.1, %column.body ]
  %column.carried.1 = phi <4 x float> [ %c.all, %row.body ], [ %t.3, %column.body ]
  %column.more = icmp slt i64 %column, %whole
  br i1 %column.more, label %column.body, label %column.exit
column.body:
  %t = mul nsw i64 %row, %columns
  %offset = add nsw i64 %t, %column
  %at = getelementptr float, ptr %x, i64 %offset
  %value = load <4 x float>, ptr %at, align 4, !invariant.load !0
  %t.1 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %column.carried, <4 x float> %value)
  %column.1 = add nsw i64 %column, 4
  %t.2 = mul nsw i64 %row, %columns
  %offset.1 = add nsw i64 %t.2, %column.1
  %at.1 = getelementptr float, ptr %x, i64 %offset.1
  %value.1 = load <4 x float>, ptr %at.1, align 4, !invariant.load !0
  %t.3 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %column.carried.1, <4 x float> %value.1)
  %column.next = add nsw i64 %column, 8
  br label %column.head
column.exit:
  %t.4 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %column.carried, <4 x float> %column.carried.1)
  %t.5 = sub nsw i64 %columns, %whole
  %whole.1 = and i64 %t.5, -4
  %vectors.end = add nsw i64 %whole, %whole.1
  br label %column.2.head
column.2.head:
  %column.2 = phi i64 [ %whole, %column.exit ], [ %column.2.next, %column.2.body ]
  %column.2.carried = phi <4 x float> [ %t.4, %column.exit ], [ %t.7, %column.2.body ]
  %column.2.more = icmp slt i64 %column.2, %vectors.end
  br i1 %column.2.more, label %column.2.body, label %column.2.exit
column.2.body:
  %t.6 = mul nsw i64 %row, %columns
  %offset.2 = add nsw i64 %t.6, %column.2
  %at.2 = getelementptr float, ptr %x, i64 %offset.2
  %value.2 = load <4 x float>, ptr %at.2, align 4, !invariant.load !0
  %t.7 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %column.2.carried, <4 x float> %value.2)
  %column.2.next = add nsw i64 %column.2, 4
  br label %column.2.head
column.2.exit:
  %low = shufflevector <4 x float> %column.2.carried, <4 x float> %column.2.carried, <2 x i32> <i32 0, i32 1>
  %high = shufflevector <4 x float> %column.2.carried, <4 x float> %column.2.carried, <2 x i32> <i32 2, i32 3>
  %t.8 = call <2 x float> @llvm.maximum.v2f32(<2 x float> %low, <2 x float> %high)
  %lane = extractelement <2 x float> %t.8, i64 0
  %lane.1 = extractelement <2 x float> %t.8, i64 1
  %t.9 = call float @llvm.maximum.f32(float %lane, float %lane.1)
  %t.10 = call float @llvm.maximum.f32(float 0xFFF0000000000000, float %t.9)
  br label %column.3.head
column.3.head:
  %column.3 = phi i64 [ %vectors.end, %column.2.exit ], [ %column.3.next, %column.3.body ]
  %column.3.carried = phi float [ %t.10, %column.2.exit ], [ %t.12, %column.3.body ]
  %column.3.more = icmp slt i64 %column.3, %columns
  br i1 %column.3.more, label %column.3.body, label %column.3.exit
column.3.body:
  %t.11 = mul nsw i64 %row, %columns
  %offset.3 = add nsw i64 %t.11, %column.3
  %at.3 = getelementptr float, ptr %x, i64 %offset.3
  %value.3 = load float, ptr %at.3, align 4, !invariant.load !0
  %t.12 = call float @llvm.maximum.f32(float %column.3.carried, float %value.3)
  %column.3.next = add nsw i64 %column.3, 1
  br label %column.3.head
column.3.exit:
  %whole.2 = and i64 %columns, -8
  br label %column.4.head
column.4.head:
  %column.4 = phi i64 [ 0, %column.3.exit ], [ %column.4.next, %column.4.body ]
  %column.4.carried = phi <4 x float> [ zeroinitializer, %column.3.exit ], [ %t.15, %column.4.body ]
  %column.4.carried.1 = phi <4 x float> [ zeroinitializer, %column.3.exit ], [ %t.18, %column.4.body ]
  %column.4.more = icmp slt i64 %column.4, %whole.2
  br i1 %column.4.more, label %column.4.body, label %column.4.exit
column.4.body:
  %t.13 = mul nsw i64 %row, %columns
  %offset.4 = add nsw i64 %t.13, %column.4
  %at.4 = getelementptr float, ptr %x, i64 %offset.4
  %value.4 = load <4 x float>, ptr %at.4, align 4, !invariant.load !0
  %column.3.carried.first = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all = shufflevector <4 x float> %column.3.carried.first, <4 x float> poison, <4 x i32> zeroinitializer
  %t.14 = fsub <4 x float> %value.4, %column.3.carried.all
  %exp = call <4 x float> @ek_exp.v4f32(<4 x float> %t.14)
  %t.15 = fadd <4 x float> %column.4.carried, %exp
  %column.5 = add nsw i64 %column.4, 4
  %t.16 = mul nsw i64 %row, %columns
  %offset.5 = add nsw i64 %t.16, %column.5
  %at.5 = getelementptr float, ptr %x, i64 %offset.5
  %value.5 = load <4 x float>, ptr %at.5, align 4, !invariant.load !0
  %column.3.carried.first.1 = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all.1 = shufflevector <4 x float> %column.3.carried.first.1, <4 x float> poison, <4 x i32> zeroinitializer
  %t.17 = fsub <4 x float> %value.5, %column.3.carried.all.1
  %exp.1 = call <4 x float> @ek_exp.v4f32(<4 x float> %t.17)
  %t.18 = fadd <4 x float> %column.4.carried.1, %exp.1
  %column.4.next = add nsw i64 %column.4, 8
  br label %column.4.head
column.4.exit:
  %t.19 = fadd <4 x float> %column.4.carried, %column.4.carried.1
  %t.20 = sub nsw i64 %columns, %whole.2
  %whole.3 = and i64 %t.20, -4
  %vectors.end.1 = add nsw i64 %whole.2, %whole.3
  br label %column.6.head
column.6.head:
  %column.6 = phi i64 [ %whole.2, %column.4.exit ], [ %column.6.next, %column.6.body ]
  %column.6.carried = phi <4 x float> [ %t.19, %column.4.exit ], [ %t.23, %column.6.body ]
  %column.6.more = icmp slt i64 %column.6, %vectors.end.1
  br i1 %column.6.more, label %column.6.body, label %column.6.exit
column.6.body:
  %t.21 = mul nsw i64 %row, %columns
  %offset.6 = add nsw i64 %t.21, %column.6
  %at.6 = getelementptr float, ptr %x, i64 %offset.6
  %value.6 = load <4 x float>, ptr %at.6, align 4, !invariant.load !0
  %column.3.carried.first.2 = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all.2 = shufflevector <4 x float> %column.3.carried.first.2, <4 x float> poison, <4 x i32> zeroinitializer
  %t.22 = fsub <4 x float> %value.6, %column.3.carried.all.2
  %exp.2 = call <4 x float> @ek_exp.v4f32(<4 x float> %t.22)
  %t.23 = fadd <4 x float> %column.6.carried, %exp.2
  %column.6.next = add nsw i64 %column.6, 4
  br label %column.6.head
column.6.exit:
  %low.1 = shufflevector <4 x float> %column.6.carried, <4 x float> %column.6.carried, <2 x i32> <i32 0, i32 1>
  %high.1 = shufflevector <4 x float> %column.6.carried, <4 x float> %column.6.carried, <2 x i32> <i32 2, i32 3>
  %t.24 = fadd <2 x float> %low.1, %high.1
  %lane.2 = extractelement <2 x float> %t.24, i64 0
  %lane.3 = extractelement <2 x float> %t.24, i64 1
  %t.25 = fadd float %lane.2, %lane.3
  %t.26 = fadd float 0.0, %t.25
  br label %column.7.head
column.7.head:
  %column.7 = phi i64 [ %vectors.end.1, %column.6.exit ], [ %column.7.next, %column.7.body ]
  %column.7.carried = phi float [ %t.26, %column.6.exit ], [ %t.29, %column.7.body ]
  %column.7.more = icmp slt i64 %column.7, %columns
  br i1 %column.7.more, label %column.7.body, label %column.7.exit
column.7.body:
  %t.27 = mul nsw i64 %row, %columns
  %offset.7 = add nsw i64 %t.27, %column.7
  %at.7 = getelementptr float, ptr %x, i64 %offset.7
  %value.7 = load float, ptr %at.7, align 4, !invariant.load !0
  %t.28 = fsub float %value.7, %column.3.carried
  %exp.3 = call float @ek_exp.f32(float %t.28)
  %t.29 = fadd float %column.7.carried, %exp.3
  %column.7.next = add nsw i64 %column.7, 1
  br label %column.7.head
column.7.exit:
  %whole.4 = and i64 %columns, -8
  br label %column.8.head
column.8.head:
  %column.8 = phi i64 [ 0, %column.7.exit ], [ %column.8.next, %column.8.body ]
  %column.8.more = icmp slt i64 %column.8, %whole.4
  br i1 %column.8.more, label %column.8.body, label %column.8.exit
column.8.body:
  %t.30 = mul nsw i64 %row, %columns
  %offset.8 = add nsw i64 %t.30, %column.8
  %to.1 = getelementptr float, ptr %y, i64 %offset.8
  %t.31 = mul nsw i64 %row, %columns
  %offset.9 = add nsw i64 %t.31, %column.8
  %at.8 = getelementptr float, ptr %x, i64 %offset.9
  %value.8 = load <4 x float>, ptr %at.8, align 4, !invariant.load !0
  %column.3.carried.first.3 = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all.3 = shufflevector <4 x float> %column.3.carried.first.3, <4 x float> poison, <4 x i32> zeroinitializer
  %t.32 = fsub <4 x float> %value.8, %column.3.carried.all.3
  %exp.4 = call <4 x float> @ek_exp.v4f32(<4 x float> %t.32)
  %column.7.carried.first = insertelement <4 x float> poison, float %column.7.carried, i64 0
  %column.7.carried.all = shufflevector <4 x float> %column.7.carried.first, <4 x float> poison, <4 x i32> zeroinitializer
  %t.33 = fdiv <4 x float> %exp.4, %column.7.carried.all
  store <4 x float> %t.33, ptr %to.1, align 4
  %column.9 = add nsw i64 %column.8, 4
  %t.34 = mul nsw i64 %row, %columns
  %offset.10 = add nsw i64 %t.34, %column.9
  %to.2 = getelementptr float, ptr %y, i64 %offset.10
  %t.35 = mul nsw i64 %row, %columns
  %offset.11 = add nsw i64 %t.35, %column.9
  %at.9 = getelementptr float, ptr %x, i64 %offset.11
  %value.9 = load <4 x float>, ptr %at.9, align 4, !invariant.load !0
  %column.3.carried.first.4 = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all.4 = shufflevector <4 x float> %column.3.carried.first.4, <4 x float> poison, <4 x i32> zeroinitializer
  %t.36 = fsub <4 x float> %value.9, %column.3.carried.all.4
  %exp.5 = call <4 x float> @ek_exp.v4f32(<4 x float> %t.36)
  %column.7.carried.first.1 = insertelement <4 x float> poison, float %column.7.carried, i64 0
  %column.7.carried.all.1 = shufflevector <4 x float> %column.7.carried.first.1, <4 x float> poison, <4 x i32> zeroinitializer
  %t.37 = fdiv <4 x float> %exp.5, %column.7.carried.all.1
  store <4 x float> %t.37, ptr %to.2, align 4
  %column.8.next = add nsw i64 %column.8, 8
  br label %column.8.head
column.8.exit:
  %t.38 = sub nsw i64 %columns, %whole.4
  %whole.5 = and i64 %t.38, -4
  %vectors.end.2 = add nsw i64 %whole.4, %whole.5
  br label %column.10.head
column.10.head:
  %column.10 = phi i64 [ %whole.4, %column.8.exit ], [ %column.10.next, %column.10.body ]
  %column.10.more = icmp slt i64 %column.10, %vectors.end.2
  br i1 %column.10.more, label %column.10.body, label %column.10.exit
column.10.body:
  %t.39 = mul nsw i64 %row, %columns
  %offset.12 = add nsw i64 %t.39, %column.10
  %to.3 = getelementptr float, ptr %y, i64 %offset.12
  %t.40 = mul nsw i64 %row, %columns
  %offset.13 = add nsw i64 %t.40, %column.10
  %at.10 = getelementptr float, ptr %x, i64 %offset.13
  %value.10 = load <4 x float>, ptr %at.10, align 4, !invariant.load !0
  %column.3.carried.first.5 = insertelement <4 x float> poison, float %column.3.carried, i64 0
  %column.3.carried.all.5 = shufflevector <4 x float> %column.3.carried.first.5, <4 x float> poison, <4 x i32> zeroinitializer
  %t.41 = fsub <4 x float> %value.10, %column.3.carried.all.5
  %exp.6 = call <4 x float> @ek_exp.v4f32(<4 x float> %t.41)
  %column.7.carried.first.2 = insertelement <4 x float> poison, float %column.7.carried, i64 0
  %column.7.carried.all.2 = shufflevector <4 x float> %column.7.carried.first.2, <4 x float> poison, <4 x i32> zeroinitializer
  %t.42 = fdiv <4 x float> %exp.6, %column.7.carried.all.2
  store <4 x float> %t.42, ptr %to.3, align 4
  %column.10.next = add nsw i64 %column.10, 4
  br label %column.10.head
column.10.exit:
  br label %column.11.head
column.11.head:
  %column.11 = phi i64 [ %vectors.end.2, %column.10.exit ], [ %column.11.next, %column.11.body ]
  %column.11.more = icmp slt i64 %column.11, %columns
  br i1 %column.11.more, label %column.11.body, label %column.11.exit
column.11.body:
  %t.43 = mul nsw i64 %row, %columns
  %offset.14 = add nsw i64 %t.43, %column.11
  %to.4 = getelementptr float, ptr %y, i64 %offset.14
  %t.44 = mul nsw i64 %row, %columns
  %offset.15 = add nsw i64 %t.44, %column.11
  %at.11 = getelementptr float, ptr %x, i64 %offset.15
  %value.11 = load float, ptr %at.11, align 4, !invariant.load !0
  %t.45 = fsub float %value.11, %column.3.carried
  %exp.7 = call float @ek_exp.f32(float %t.45)
  %t.46 = fdiv float %exp.7, %column.7.carried
  store float %t.46, ptr %to.4, align 4
  %column.11.next = add nsw i64 %column.11, 1
  br label %column.11.head
column.11.exit:
  %row.next = add nsw i64 %row, 1
  br label %row.head
row.exit:
  ret void
}

define internal <4 x float> @ek_exp.v4f32(<4 x float> %x) nounwind {
entry:
  %c.first = insertelement <4 x float> poison, float -105.0, i64 0
  %c.all = shufflevector <4 x float> %c.first, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.1 = insertelement <4 x float> poison, float 90.0, i64 0
  %c.all.1 = shufflevector <4 x float> %c.first.1, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.2 = insertelement <4 x float> poison, float 0x3FF7154760000000, i64 0
  %c.all.2 = shufflevector <4 x float> %c.first.2, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.3 = insertelement <4 x float> poison, float 0x4168000000000000, i64 0
  %c.all.3 = shufflevector <4 x float> %c.first.3, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.4 = insertelement <4 x float> poison, float 0xBFE62E4000000000, i64 0
  %c.all.4 = shufflevector <4 x float> %c.first.4, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.5 = insertelement <4 x float> poison, float 0xBEB7F7D1C0000000, i64 0
  %c.all.5 = shufflevector <4 x float> %c.first.5, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.6 = insertelement <4 x float> poison, float 1.0, i64 0
  %c.all.6 = shufflevector <4 x float> %c.first.6, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.7 = insertelement <4 x float> poison, float 0x3F56D2E080000000, i64 0
  %c.all.7 = shufflevector <4 x float> %c.first.7, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.8 = insertelement <4 x float> poison, float 0x3F8120C0A0000000, i64 0
  %c.all.8 = shufflevector <4 x float> %c.first.8, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.9 = insertelement <4 x float> poison, float 0x3FA5555020000000, i64 0
  %c.all.9 = shufflevector <4 x float> %c.first.9, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.10 = insertelement <4 x float> poison, float 0x3FC5554DC0000000, i64 0
  %c.all.10 = shufflevector <4 x float> %c.first.10, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.11 = insertelement <4 x float> poison, float 0.5, i64 0
  %c.all.11 = shufflevector <4 x float> %c.first.11, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.12 = insertelement <4 x i32> poison, i32 1, i64 0
  %c.all.12 = shufflevector <4 x i32> %c.first.12, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.13 = insertelement <4 x i32> poison, i32 23, i64 0
  %c.all.13 = shufflevector <4 x i32> %c.first.13, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.14 = insertelement <4 x i32> poison, i32 127, i64 0
  %c.all.14 = shufflevector <4 x i32> %c.first.14, <4 x i32> poison, <4 x i32> zeroinitializer
  %is = fcmp olt <4 x float> %x, %c.all
  %t = select <4 x i1> %is, <4 x float> %c.all, <4 x float> %x
  %is.1 = fcmp ogt <4 x float> %t, %c.all.1
  %t.1 = select <4 x i1> %is.1, <4 x float> %c.all.1, <4 x float> %t
  %t.2 = fmul <4 x float> %t.1, %c.all.2
  %t.3 = fadd <4 x float> %t.2, %c.all.3
  %t.4 = fsub <4 x float> %t.3, %c.all.3
  %bits = bitcast <4 x float> %c.all.3 to <4 x i32>
  %bits.1 = bitcast <4 x float> %t.3 to <4 x i32>
  %t.5 = sub <4 x i32> %bits.1, %bits
  %t.6 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.4, <4 x float> %c.all.4, <4 x float> %t.1)
  %t.7 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.4, <4 x float> %c.all.5, <4 x float> %t.6)
  %t.8 = call <4 x float> @llvm.fma.v4f32(<4 x float> %c.all.7, <4 x float> %t.7, <4 x float> %c.all.8)
  %t.9 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.8, <4 x float> %t.7, <4 x float> %c.all.9)
  %t.10 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.9, <4 x float> %t.7, <4 x float> %c.all.10)
  %t.11 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.10, <4 x float> %t.7, <4 x float> %c.all.11)
  %t.12 = fmul <4 x float> %t.7, %t.7
  %t.13 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t.12, <4 x float> %t.11, <4 x float> %t.7)
  %t.14 = fadd <4 x float> %t.13, %c.all.6
  %t.15 = ashr <4 x i32> %t.5, %c.all.12
  %t.16 = sub <4 x i32> %t.5, %t.15
  %t.17 = add <4 x i32> %t.16, %c.all.14
  %t.18 = shl <4 x i32> %t.17, %c.all.13
  %t.19 = bitcast <4 x i32> %t.18 to <4 x float>
  %t.20 = add <4 x i32> %t.15, %c.all.14
  %t.21 = shl <4 x i32> %t.20, %c.all.13
  %t.22 = bitcast <4 x i32> %t.21 to <4 x float>
  %t.23 = fmul <4 x float> %t.14, %t.22
  %t.24 = fmul <4 x float> %t.23, %t.19
  ret <4 x float> %t.24
}

define internal float @ek_exp.f32(float %x) nounwind {
entry:
  %is = fcmp olt float %x, -105.0
  %t = select i1 %is, float -105.0, float %x
  %is.1 = fcmp ogt float %t, 90.0
  %t.1 = select i1 %is.1, float 90.0, float %t
  %t.2 = fmul float %t.1, 0x3FF7154760000000
  %t.3 = fadd float %t.2, 0x4168000000000000
  %t.4 = fsub float %t.3, 0x4168000000000000
  %bits = bitcast float 0x4168000000000000 to i32
  %bits.1 = bitcast float %t.3 to i32
  %t.5 = sub i32 %bits.1, %bits
  %t.6 = call float @llvm.fma.f32(float %t.4, float 0xBFE62E4000000000, float %t.1)
  %t.7 = call float @llvm.fma.f32(float %t.4, float 0xBEB7F7D1C0000000, float %t.6)
  %t.8 = call float @llvm.fma.f32(float 0x3F56D2E080000000, float %t.7, float 0x3F8120C0A0000000)
  %t.9 = call float @llvm.fma.f32(float %t.8, float %t.7, float 0x3FA5555020000000)
  %t.10 = call float @llvm.fma.f32(float %t.9, float %t.7, float 0x3FC5554DC0000000)
  %t.11 = call float @llvm.fma.f32(float %t.10, float %t.7, float 0.5)
  %t.12 = fmul float %t.7, %t.7
  %t.13 = call float @llvm.fma.f32(float %t.12, float %t.11, float %t.7)
  %t.14 = fadd float %t.13, 1.0
  %t.15 = ashr i32 %t.5, 1
  %t.16 = sub i32 %t.5, %t.15
  %t.17 = add i32 %t.16, 127
  %t.18 = shl i32 %t.17, 23
  %t.19 = bitcast i32 %t.18 to float
  %t.20 = add i32 %t.15, 127
  %t.21 = shl i32 %t.20, 23
  %t.22 = bitcast i32 %t.21 to float
  %t.23 = fmul float %t.14, %t.22
  %t.24 = fmul float %t.23, %t.19
  ret float %t.24
}

declare <2 x float> @llvm.maximum.v2f32(<2 x float>, <2 x float>)
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maximum.v4f32(<4 x float>, <4 x float>)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.maximum.f32(float, float)
declare i64 @llvm.smin.i64(i64, i64)
!0 = !{}

; {"buffers":[{"alignment":256,"bytes":"0","dtype":"f32","kind":"input","name":"x","zero":false},{"alignment":256,"bytes":"0","dtype":"f32","kind":"output","name":"y","zero":false}],"scalars":[],"steps":[{"arguments":[{"bytes":8,"size":"R"},{"bytes":8,"size":"C"},{"offset":"0","pointer":0},{"offset":"0","pointer":1}],"entry":"ek_softmax_rows_5c43ab7a","grain":"ceil_div(32768, max(C * 71, 1))","scratch":"0","step":"cpu","tasks":"R"}]}
