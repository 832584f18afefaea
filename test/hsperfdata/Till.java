import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/** A program with a counter of its own: makes garbage, collects it, and waits until its input ends. */
public class Till {
    public static void main(String[] arguments) throws Exception {
        Class<?> type = Class.forName("jdk.internal.perf.Perf");
        Object perf = type.getMethod("getPerf").invoke(null);
        Method create = type.getMethod("createLong", String.class, int.class, int.class, long.class);
        Object counter = create.invoke(perf, "org.shop.sales", 3, 4, 41L);
        ((ByteBuffer) counter).order(java.nio.ByteOrder.nativeOrder()).putLong(0, 42L);
        byte[][] garbage = new byte[64][];
        for (int i = 0; i < 4096; i++) garbage[i % 64] = new byte[16384];
        System.gc();
        System.out.println("ready");
        System.in.read();
    }
}
