import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.index.strtree.STRtree;
import org.locationtech.jts.io.ParseException;
import org.locationtech.jts.io.WKBReader;

/**
 * Matches publications against subscriptions with JTS: an STR tree of envelopes, then plain
 * predicates, in one thread. Standard input carries the subscriptions, then batches:
 *
 * subscriptions: int count, then for each: UTF predicate, int length, WKB
 * batch:         int count, then for each: int length, WKB
 * answer:        long CPU nanoseconds used for all batches so far, int pairs, then pairs of ints
 */
public final class JtsPeer {
    private record Area(int row, String predicate, Geometry geometry) {}

    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws IOException, ParseException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        STRtree tree = load(in);
        long used = 0;
        while (true) {
            byte[][] batch;
            try {
                batch = readBatch(in);
            } catch (EOFException end) {
                return;
            }
            long start = CLOCK.getCurrentThreadCpuTime();
            List<int[]> pairs = match(tree, batch);
            used += CLOCK.getCurrentThreadCpuTime() - start;
            answer(out, used, pairs);
        }
    }

    private static STRtree load(DataInputStream in) throws IOException, ParseException {
        STRtree tree = new STRtree();
        WKBReader reader = new WKBReader();
        int count = in.readInt();
        for (int row = 0; row < count; row++) {
            String predicate = in.readUTF();
            Geometry geometry = reader.read(readBytes(in));
            tree.insert(geometry.getEnvelopeInternal(), new Area(row, predicate, geometry));
        }
        tree.build();
        return tree;
    }

    private static List<int[]> match(STRtree tree, byte[][] batch) throws ParseException {
        WKBReader reader = new WKBReader();
        List<int[]> pairs = new ArrayList<>();
        for (int row = 0; row < batch.length; row++) {
            Geometry event = reader.read(batch[row]);
            for (Object candidate : tree.query(event.getEnvelopeInternal())) {
                Area area = (Area) candidate;
                if (holds(area.predicate(), event, area.geometry())) {
                    pairs.add(new int[] {row, area.row()});
                }
            }
        }
        return pairs;
    }

    private static boolean holds(String predicate, Geometry event, Geometry area) {
        return switch (predicate) {
            case "equals" -> event.equalsTopo(area);
            case "touches" -> event.touches(area);
            case "crosses" -> event.crosses(area);
            case "within" -> event.within(area);
            case "overlaps" -> event.overlaps(area);
            case "contains" -> event.contains(area);
            case "intersects" -> event.intersects(area);
            case "covers" -> event.covers(area);
            case "coveredby" -> event.coveredBy(area);
            default -> throw new IllegalArgumentException(predicate);
        };
    }

    private static byte[][] readBatch(DataInputStream in) throws IOException {
        byte[][] batch = new byte[in.readInt()][];
        for (int row = 0; row < batch.length; row++) {
            batch[row] = readBytes(in);
        }
        return batch;
    }

    private static byte[] readBytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    private static void answer(DataOutputStream out, long used, List<int[]> pairs)
            throws IOException {
        out.writeLong(used);
        out.writeInt(pairs.size());
        for (int[] pair : pairs) {
            out.writeInt(pair[0]);
            out.writeInt(pair[1]);
        }
        out.flush();
    }
}
