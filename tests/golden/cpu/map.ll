; silu_scaled_0: y: each element on its own
; cpu.points version 1, axis=1 lanes=4 unroll=1 block=4096 tile=1

define void @ek_silu_scaled_points_6c37f9e5(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr noalias %scratch) nounwind {
entry:
  %elements = load i64, ptr %arguments, align 8, !invariant.load !0
  %y.stride.0.argument = getelementptr i64, ptr %arguments, i64 1
  %y.stride.0 = load i64, ptr %y.stride.0.argument, align 8, !invariant.load !0
  %y.argument = getelementptr i64, ptr %arguments, i64 2
  %y = load ptr, ptr %y.argument, align 8, !invariant.load !0
  %x.argument = getelementptr i64, ptr %arguments, i64 3
  %x = load ptr, ptr %x.argument, align 8, !invariant.load !0
  %c.first = insertelement <4 x i32> poison, i32 16, i64 0
  %c.all = shufflevector <4 x i32> %c.first, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.1 = insertelement <4 x float> poison, float -1000.0, i64 0
  %c.all.1 = shufflevector <4 x float> %c.first.1, <4 x float> poison, <4 x i32> zeroinitializer
  %c.first.2 = insertelement <4 x float> poison, float 1.0, i64 0
  %c.all.2 = shufflevector <4 x float> %c.first.2, <4 x float> poison, <4 x i32> zeroinitializer
  %s.argument = getelementptr i64, ptr %arguments, i64 4
  %s = load float, ptr %s.argument, align 8, !invariant.load !0
  %from = mul nsw i64 %begin, 4096
  %t = mul nsw i64 %end, 4096
  %to = call i64 @llvm.smin.i64(i64 %t, i64 %elements)
  %t.1 = sub nsw i64 %to, %from
  %whole = and i64 %t.1, -4
  %vectors.end = add nsw i64 %from, %whole
  br label %element.head
element.head:
  %element = phi i64 [ %from, %entry ], [ %element.next, %element.body ]
  %element.more = icmp slt i64 %element, %vectors.end
  br i1 %element.more, label %element.body, label %element.exit
element.body:
  %to.1 = getelementptr i16, ptr %y, i64 %element
  %at = getelementptr i16, ptr %x, i64 %element
  %value = load <4 x i16>, ptr %at, align 2, !invariant.load !0
  %t.2 = zext <4 x i16> %value to <4 x i32>
  %high = shl <4 x i32> %t.2, %c.all
  %wide = bitcast <4 x i32> %high to <4 x float>
  %t.3 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %wide, <4 x float> %c.all.1)
  %t.4 = fneg <4 x float> %t.3
  %exp = call <4 x float> @ek_exp.v4f32(<4 x float> %t.4)
  %t.5 = fadd <4 x float> %c.all.2, %exp
  %t.6 = fdiv <4 x float> %t.3, %t.5
  %s.first = insertelement <4 x float> poison, float %s, i64 0
  %s.all = shufflevector <4 x float> %s.first, <4 x float> poison, <4 x i32> zeroinitializer
  %t.7 = fmul <4 x float> %s.all, %t.6
  %converted = call <4 x i16> @ek_to_bf16.v4f32(<4 x float> %t.7)
  store <4 x i16> %converted, ptr %to.1, align 2
  %element.next = add nsw i64 %element, 4
  br label %element.head
element.exit:
  br label %element.1.head
element.1.head:
  %element.1 = phi i64 [ %vectors.end, %element.exit ], [ %element.1.next, %element.1.body ]
  %element.1.more = icmp slt i64 %element.1, %to
  br i1 %element.1.more, label %element.1.body, label %element.1.exit
element.1.body:
  %to.2 = getelementptr i16, ptr %y, i64 %element.1
  %at.1 = getelementptr i16, ptr %x, i64 %element.1
  %value.1 = load i16, ptr %at.1, align 2, !invariant.load !0
  %t.8 = zext i16 %value.1 to i32
  %high.1 = shl i32 %t.8, 16
  %wide.1 = bitcast i32 %high.1 to float
  %t.9 = call float @llvm.maximum.f32(float %wide.1, float -1000.0)
  %t.10 = fneg float %t.9
  %exp.1 = call float @ek_exp.f32(float %t.10)
  %t.11 = fadd float 1.0, %exp.1
  %t.12 = fdiv float %t.9, %t.11
  %t.13 = fmul float %s, %t.12
  %converted.1 = call i16 @ek_to_bf16.f32(float %t.13)
  store i16 %converted.1, ptr %to.2, align 2
  %element.1.next = add nsw i64 %element.1, 1
  br label %element.1.head
element.1.exit:
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

define internal <4 x i16> @ek_to_bf16.v4f32(<4 x float> %x) nounwind {
entry:
  %c.first = insertelement <4 x i32> poison, i32 2147483647, i64 0
  %c.all = shufflevector <4 x i32> %c.first, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.1 = insertelement <4 x i32> poison, i32 1, i64 0
  %c.all.1 = shufflevector <4 x i32> %c.first.1, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.2 = insertelement <4 x i32> poison, i32 16, i64 0
  %c.all.2 = shufflevector <4 x i32> %c.first.2, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.3 = insertelement <4 x i32> poison, i32 32767, i64 0
  %c.all.3 = shufflevector <4 x i32> %c.first.3, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.4 = insertelement <4 x i32> poison, i32 32640, i64 0
  %c.all.4 = shufflevector <4 x i32> %c.first.4, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.5 = insertelement <4 x i32> poison, i32 2139095040, i64 0
  %c.all.5 = shufflevector <4 x i32> %c.first.5, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.6 = insertelement <4 x i32> poison, i32 32704, i64 0
  %c.all.6 = shufflevector <4 x i32> %c.first.6, <4 x i32> poison, <4 x i32> zeroinitializer
  %c.first.7 = insertelement <4 x i32> poison, i32 32768, i64 0
  %c.all.7 = shufflevector <4 x i32> %c.first.7, <4 x i32> poison, <4 x i32> zeroinitializer
  %bits = bitcast <4 x float> %x to <4 x i32>
  %magnitude = and <4 x i32> %bits, %c.all
  %t = lshr <4 x i32> %magnitude, %c.all.2
  %last = and <4 x i32> %t, %c.all.1
  %half = add <4 x i32> %last, %c.all.3
  %t.1 = add <4 x i32> %magnitude, %half
  %rounded = lshr <4 x i32> %t.1, %c.all.2
  %rounded.1 = sub <4 x i32> %rounded, zeroinitializer
  %rounded.2 = call <4 x i32> @llvm.umin.v4i32(<4 x i32> %rounded.1, <4 x i32> %c.all.4)
  %nan = icmp ugt <4 x i32> %magnitude, %c.all.5
  %rounded.3 = select <4 x i1> %nan, <4 x i32> %c.all.6, <4 x i32> %rounded.2
  %t.2 = lshr <4 x i32> %bits, %c.all.2
  %sign = and <4 x i32> %t.2, %c.all.7
  %narrow = or <4 x i32> %rounded.3, %sign
  %narrow.1 = trunc <4 x i32> %narrow to <4 x i16>
  ret <4 x i16> %narrow.1
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

define internal i16 @ek_to_bf16.f32(float %x) nounwind {
entry:
  %bits = bitcast float %x to i32
  %magnitude = and i32 %bits, 2147483647
  %t = lshr i32 %magnitude, 16
  %last = and i32 %t, 1
  %half = add i32 %last, 32767
  %t.1 = add i32 %magnitude, %half
  %rounded = lshr i32 %t.1, 16
  %rounded.1 = sub i32 %rounded, 0
  %rounded.2 = call i32 @llvm.umin.i32(i32 %rounded.1, i32 32640)
  %nan = icmp ugt i32 %magnitude, 2139095040
  %rounded.3 = select i1 %nan, i32 32704, i32 %rounded.2
  %t.2 = lshr i32 %bits, 16
  %sign = and i32 %t.2, 32768
  %narrow = or i32 %rounded.3, %sign
  %narrow.1 = trunc i32 %narrow to i16
  ret i16 %narrow.1
}

declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <4 x float> @llvm.maximum.v4f32(<4 x float>, <4 x float>)
declare <4 x i32> @llvm.umin.v4i32(<4 x i32>, <4 x i32>)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.maximum.f32(float, float)
declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
!0 = !{}

; {"buffers":[{"alignment":256,"bytes":"0","dtype":"bf16","kind":"output","name":"y","zero":false},{"alignment":256,"bytes":"0","dtype":"bf16","kind":"input","name":"x","zero":false}],"scalars":[{"dtype":"f32","name":"s"}],"steps":[{"arguments":[{"bytes":8,"size":"R * C"},{"bytes":8,"size":"C"},{"offset":"0","pointer":0},{"offset":"0","pointer":1},{"scalar":0}],"entry":"ek_silu_scaled_points_6c37f9e5","grain":"1","scratch":"0","step":"cpu","tasks":"ceil_div(R * C, 4096)"}]}
