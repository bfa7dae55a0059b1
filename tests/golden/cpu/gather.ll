; embed_0: e: each element on its own
; cpu.points version 1, axis=1 lanes=4 unroll=1 block=4096 tile=1

define void @ek_embed_points_408756ee(ptr noalias readonly %arguments, i64 %begin, i64 %end, ptr noalias %scratch) nounwind {
entry:
  %d.count = load i64, ptr %arguments, align 8, !invariant.load !0
  %d.high.argument = getelementptr i64, ptr %arguments, i64 1
  %d.high = load i64, ptr %d.high.argument, align 8, !invariant.load !0
  %e.argument = getelementptr i64, ptr %arguments, i64 2
  %e = load ptr, ptr %e.argument, align 8, !invariant.load !0
  %t.argument = getelementptr i64, ptr %arguments, i64 3
  %t.3 = load ptr, ptr %t.argument, align 8, !invariant.load !0
  %table.argument = getelementptr i64, ptr %arguments, i64 4
  %table = load ptr, ptr %table.argument, align 8, !invariant.load !0
  %c.first = insertelement <4 x i1> poison, i1 true, i64 0
  %c.all = shufflevector <4 x i1> %c.first, <4 x i1> poison, <4 x i32> zeroinitializer
  %table.extent.0.argument = getelementptr i64, ptr %arguments, i64 5
  %table.extent.0 = load i64, ptr %table.extent.0.argument, align 8, !invariant.load !0
  br label %task.head
task.head:
  %task = phi i64 [ %begin, %entry ], [ %task.next, %d.2.exit ]
  %task.more = icmp slt i64 %task, %end
  br i1 %task.more, label %task.body, label %task.exit
task.body:
  %d = urem i64 %task, %d.count
  %rest = udiv i64 %task, %d.count
  %d.first = mul nsw i64 %d, 4096
  %t = add nsw i64 %d.first, 4096
  %d.end = call i64 @llvm.smin.i64(i64 %t, i64 %d.high)
  %t.1 = sub nsw i64 %d.end, %d.first
  %whole = and i64 %t.1, -4
  %vectors.end = add nsw i64 %d.first, %whole
  br label %d.1.head
d.1.head:
  %d.1 = phi i64 [ %d.first, %task.body ], [ %d.1.next, %d.1.body ]
  %d.1.more = icmp slt i64 %d.1, %vectors.end
  br i1 %d.1.more, label %d.1.body, label %d.1.exit
d.1.body:
  %t.2 = mul nsw i64 %rest, %d.high
  %offset = add nsw i64 %t.2, %d.1
  %to = getelementptr half, ptr %e, i64 %offset
  %at = getelementptr i32, ptr %t.3, i64 %rest
  %value = load i32, ptr %at, align 4, !invariant.load !0
  %converted = sext i32 %value to i64
  %converted.1 = sext i32 %value to i64
  %d.1.first = insertelement <4 x i64> poison, i64 %d.1, i64 0
  %d.1.all = shufflevector <4 x i64> %d.1.first, <4 x i64> poison, <4 x i32> zeroinitializer
  %d.1.lanes = add nsw <4 x i64> %d.1.all, <i64 0, i64 1, i64 2, i64 3>
  %t.4 = mul nsw i64 %converted, %d.high
  %offset.1 = add nsw i64 %t.4, %d.1
  %at.1 = getelementptr half, ptr %table, i64 %offset.1
  %inside = icmp ult i64 %converted.1, %table.extent.0
  %inside.first = insertelement <4 x i1> poison, i1 %inside, i64 0
  %inside.all = shufflevector <4 x i1> %inside.first, <4 x i1> poison, <4 x i32> zeroinitializer
  %d.high.first = insertelement <4 x i64> poison, i64 %d.high, i64 0
  %d.high.all = shufflevector <4 x i64> %d.high.first, <4 x i64> poison, <4 x i32> zeroinitializer
  %inside.1 = icmp ult <4 x i64> %d.1.lanes, %d.high.all
  %inside.2 = and <4 x i1> %inside.all, %inside.1
  %t.5 = call <4 x i16> @llvm.masked.load.v4i16.p0(ptr %at.1, i32 2, <4 x i1> %inside.2, <4 x i16> zeroinitializer)
  %t.6 = bitcast <4 x i16> %t.5 to <4 x half>
  %wide = fpext <4 x half> %t.6 to <4 x float>
  %half = fptrunc <4 x float> %wide to <4 x half>
  store <4 x half> %half, ptr %to, align 2
  %d.1.next = add nsw i64 %d.1, 4
  br label %d.1.head
d.1.exit:
  br label %d.2.head
d.2.head:
  %d.2 = phi i64 [ %vectors.end, %d.1.exit ], [ %d.2.next, %if.end ]
  %d.2.more = icmp slt i64 %d.2, %d.end
  br i1 %d.2.more, label %d.2.body, label %d.2.exit
d.2.body:
  %t.7 = mul nsw i64 %rest, %d.high
  %offset.2 = add nsw i64 %t.7, %d.2
  %to.1 = getelementptr half, ptr %e, i64 %offset.2
  %at.2 = getelementptr i32, ptr %t.3, i64 %rest
  %value.1 = load i32, ptr %at.2, align 4, !invariant.load !0
  %converted.2 = sext i32 %value.1 to i64
  %inside.3 = icmp ult i64 %converted.2, %table.extent.0
  %inside.4 = icmp ult i64 %d.2, %d.high
  %inside.5 = and i1 %inside.3, %inside.4
  br i1 %inside.5, label %if.then, label %if.else
if.then:
  %t.8 = mul nsw i64 %converted.2, %d.high
  %offset.3 = add nsw i64 %t.8, %d.2
  %at.3 = getelementptr half, ptr %table, i64 %offset.3
  %value.2 = load half, ptr %at.3, align 2, !invariant.load !0
  %wide.1 = fpext half %value.2 to float
  br label %if.end
if.else:
  br label %if.end
if.end:
  %if.value = phi float [ %wide.1, %if.then ], [ 0.0, %if.else ]
  %half.1 = fptrunc float %if.value to half
  store half %half.1, ptr %to.1, align 2
  %d.2.next = add nsw i64 %d.2, 1
  br label %d.2.head
d.2.exit:
  %task.next = add nsw i64 %task, 1
  br label %task.head
task.exit:
  ret void
}

declare <4 x i16> @llvm.masked.load.v4i16.p0(ptr, i32, <4 x i1>, <4 x i16>)
declare i64 @llvm.smin.i64(i64, i64)
!0 = !{}

; {"buffers":[{"alignment":256,"bytes":"0","dtype":"f16","kind":"output","name":"e","zero":false},{"alignment":256,"bytes":"0","dtype":"i32","kind":"input","name":"t","zero":false},{"alignment":256,"bytes":"0","dtype":"f16","kind":"input","name":"table","zero":false}],"scalars":[],"steps":[{"arguments":[{"bytes":8,"size":"ceil_div(D, 4096)"},{"bytes":8,"size":"D"},{"offset":"0","pointer":0},{"offset":"0","pointer":1},{"offset":"0","pointer":2},{"bytes":8,"size":"V"}],"entry":"ek_embed_points_408756ee","grain":"ceil_div(32768, max(min(4096, D) * 5, 1))","scratch":"0","step":"cpu","tasks":"S * ceil_div(D, 4096)"}]}
